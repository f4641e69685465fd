// Asks the language services that VS Code's editors use: `node validate.mjs FOLDER_OF_NODE_MODULES < questions.json`.
//
// A question has a `kind` (yaml, json, toml), a `text`, the `schema` and maybe a position (`line`, `character`). Its answer
// has `problems`, and for a position `offered`: the labels that are completed there.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";

const require = createRequire(`${process.argv[2]}/any.js`);
const yaml = require("yaml-language-server");
const json = require("vscode-json-languageservice");
const { TextDocument } = require("vscode-languageserver-textdocument");
const { Taplo } = require("@taplo/lib");

const SCHEMA = "file:///schema.json";
// A document is remembered by its address: each has one of its own.
let documents = 0;
const address = (ending) => `file:///${(documents += 1)}.${ending}`;
const noRequests = () => Promise.reject("nothing is loaded");

function yamlService(schema) {
  const service = yaml.getLanguageService({
    schemaRequestService: noRequests,
    workspaceContext: { resolveRelativePath: (path) => path },
    clientCapabilities: {},
  });
  const schemas = [{ uri: SCHEMA, fileMatch: ["*.yaml"], schema }];
  service.configure({ validate: true, completion: true, hover: true, schemas });
  return service;
}

async function ofYaml({ text, schema, line, character }) {
  const service = yamlService(schema);
  const document = TextDocument.create(address("yaml"), "yaml", 1, text);
  const problems = (await service.doValidation(document, false)).map((found) => found.message);
  if (line === undefined) return { problems };
  const found = await service.doComplete(document, { line, character }, false);
  return { problems, offered: found.items.map((item) => item.label) };
}

async function ofJson({ text, schema }) {
  const named = JSON.parse(text).$schema; // where a document names its schema, that is the one
  const service = json.getLanguageService({ schemaRequestService: noRequests });
  service.configure({ validate: true, schemas: [{ uri: named ?? SCHEMA, fileMatch: ["*.json"], schema }] });
  const document = TextDocument.create(address("json"), "json", 1, text);
  const found = await service.doValidation(document, service.parseJSONDocument(document));
  return { problems: found.map((one) => one.message) };
}

async function ofToml({ text, schema }) {
  const taplo = await Taplo.initialize({
    now: () => new Date(),
    envVar: () => undefined,
    envVars: () => [],
    stdErrAtty: () => false,
    stdin: () => new PassThrough(),
    stdout: () => new PassThrough(),
    stderr: () => new PassThrough(),
    glob: () => [],
    readFile: () => Promise.resolve(new TextEncoder().encode(JSON.stringify(schema))),
    writeFile: () => Promise.reject("nothing is written"),
    urlToFilePath: (url) => url.replace("file://", ""),
    isAbsolute: () => true,
    cwd: () => "/",
    findConfigFile: () => undefined,
  });
  const config = { schema: { enabled: true, url: SCHEMA } };
  const found = await taplo.lint(text, { config });
  return { problems: found.errors.map((one) => one.error) };
}

const answers = [];
for (const question of JSON.parse(readFileSync(0, "utf8"))) {
  answers.push(await { yaml: ofYaml, json: ofJson, toml: ofToml }[question.kind](question));
}
process.stdout.write(JSON.stringify(answers));

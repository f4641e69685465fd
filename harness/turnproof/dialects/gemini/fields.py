"""The messages of the API and their fields, as data of November 2026.

Read from the types of `google-genai` 3.4 and the recordings; both surfaces together, since which of them lacks which
field is known for few. A field is written `name:kind`; a name alone may hold anything. Kinds are a message of this
list, `string`, `bytes`, `number`, `bool`, `duration`, `timestamp`, `object` (any JSON object), `type` (of a schema),
`[kind]` for a list and `{kind}` for a map. A name that is not listed is refused (`Cannot find field.`); a message that
is not listed is not judged at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

_MESSAGES = {
    "GenerateContentRequest": """
        model:string contents:[Content] systemInstruction:Content tools:[Tool] toolConfig:ToolConfig
        generationConfig:GenerationConfig cachedContent:string safetySettings labels serviceTier store modelArmorConfig
        continuationToken automaticContinuation generationOutputConfig
    """,
    "CountTokensRequest": """
        model:string contents:[Content] generateContentRequest:GenerateContentRequest systemInstruction:Content
        tools:[Tool] generationConfig:GenerationConfig instances
    """,
    "CachedContent": """
        name:string model:string contents:[Content] systemInstruction:Content tools:[Tool] toolConfig:ToolConfig
        ttl:duration expireTime:timestamp displayName:string kmsKeyName encryptionSpec createTime updateTime
        usageMetadata
    """,
    "Content": "role:string parts:[Part]",
    "Part": """
        text:string thought:bool thoughtSignature:bytes functionCall:FunctionCall functionResponse:FunctionResponse
        inlineData:Blob fileData:FileData executableCode:ExecutableCode codeExecutionResult:CodeExecutionResult
        toolCall toolResponse videoMetadata mediaResolution partMetadata audioTranscription mediaProcessing
        speechMetadata documentMetadata spreadsheetMetadata audioMetadata
    """,
    "FunctionCall": "id:string name:string args:object partialArgs willContinue:bool",
    "FunctionResponse": """
        id:string name:string response:object parts:[FunctionResponsePart] willContinue:bool scheduling
    """,
    "FunctionResponsePart": """
        inlineData:Blob fileData:FileData mediaProcessing mediaResolution videoMetadata documentMetadata
        spreadsheetMetadata audioMetadata
    """,
    "Blob": "mimeType:string data:bytes displayName:string",
    "FileData": "mimeType:string fileUri:string displayName:string",
    "ExecutableCode": "id:string language code:string",
    "CodeExecutionResult": "id:string outcome output:string",
    "Tool": """
        functionDeclarations:[FunctionDeclaration] retrieval computerUse fileSearch googleSearch googleSearchRetrieval
        googleMaps codeExecution enterpriseWebSearch urlContext mcpServers parallelAiSearch exaAiSearch
    """,
    "FunctionDeclaration": """
        name:string description:string parameters:Schema parametersJsonSchema response:Schema responseJsonSchema
        behavior
    """,
    "Schema": """
        type:type format:string title:string description:string nullable:bool default items:Schema minItems maxItems
        enum:[string] properties:{Schema} propertyOrdering:[string] required:[string] minProperties maxProperties
        minimum:number maximum:number minLength maxLength pattern:string example anyOf:[Schema] additionalProperties
        $ref:string $defs:{Schema} ref:string defs:{Schema}
    """,
    "ToolConfig": "functionCallingConfig:FunctionCallingConfig retrievalConfig includeServerSideToolInvocations:bool",
    "FunctionCallingConfig": "mode allowedFunctionNames:[string] streamFunctionCallArguments:bool",
    "GenerationConfig": """
        temperature:number topP:number topK:number candidateCount:number maxOutputTokens:number stopSequences:[string]
        responseMimeType:string responseSchema:Schema responseJsonSchema responseModalities
        thinkingConfig:ThinkingConfig
        seed:number presencePenalty:number frequencyPenalty:number responseLogprobs:bool logprobs:number
        mediaResolution speechConfig imageConfig audioTimestamp routingConfig modelConfig modelSelectionConfig
        enableEnhancedCivicAnswers enableAffectiveDialog responseFormat translationConfig audioTranscriptionConfig
    """,
    "ThinkingConfig": "includeThoughts:bool thinkingBudget:number thinkingLevel",
}

PART_DATA = frozenset(
    {
        "text",
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    }
)
"""What a part is: one of these."""

ONEOFS: Mapping[str, tuple[str, frozenset[str]]] = {
    "Part": ("data", PART_DATA),
    "CachedContent": ("expiration", frozenset({"ttl", "expireTime"})),
}
"""Of the fields of such a group a message has at most one."""

SCHEMA_TYPES = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
"""By number, as some clients send them. They are also accepted in lower case."""

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Field:
    """One field in its two spellings. `kind` is empty where anything goes; `shape` is `[`, `{` or empty."""

    name: str
    snake: str
    kind: str
    shape: str


def _field(text: str) -> Field:
    name, _, kind = text.partition(":")
    shape = kind[0] if kind[:1] in ("[", "{") else ""
    return Field(name, _CAPITAL.sub("_", name).lower(), kind.strip("[]{}"), shape)


def _fields(texts: str) -> dict[str, Field]:
    fields = [_field(text) for text in texts.split()]
    return {field.snake: field for field in fields} | {field.name: field for field in fields}


Fields: TypeAlias = Mapping[str, Mapping[str, Field]]
"""For each message its fields, by either spelling."""


def table(messages: Mapping[str, str]) -> Fields:
    """The fields of messages that are written as in this module."""
    return {message: _fields(texts) for message, texts in messages.items()}


FIELDS = table(_MESSAGES)

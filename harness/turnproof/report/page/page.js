// Makes the page easier to search: filters that are part of its address, links that open what they lead to, copying.
"use strict";
(() => {
  const root = document.documentElement;
  const form = document.getElementById("filters");
  root.classList.add("js");
  const say = document.getElementById("found");
  const fields = form ? [...form.querySelectorAll("select, input")] : [];
  const requirements = [...document.querySelectorAll(".requirement")].map((element) => ({
    element,
    profile: element.dataset.profile,
    level: element.dataset.level,
    words: element.dataset.words.toLowerCase(),
    marks: [...element.querySelectorAll(".marks i")],
    rows: [...element.querySelectorAll("tr[data-adapter]")].map((row) => ({
      element: row, adapter: row.dataset.adapter, codes: row.dataset.codes,
    })),
    cases: [...element.querySelectorAll(".case")],
  }));

  // After the first picture of the page, the boxes off the screen: they are blank in a picture of the whole page else.
  const draw = () => requestAnimationFrame(() => setTimeout(() => root.classList.add("drawn")));
  if (document.readyState === "complete") draw(); else window.addEventListener("load", draw, { once: true });

  const state = () => Object.fromEntries(fields.map((field) => [field.name, field.value.trim()]).filter(([, value]) => value));

  function apply() {
    const wanted = state();
    const words = (wanted.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const place = wanted.path ? Number(form.elements.path.selectedOptions[0].dataset.place) : 0;
    const matches = (codes) => (wanted.status ? codes[place] === wanted.status : !wanted.path || codes[place] !== "-");
    let shown = 0;
    for (const one of requirements) {
      const fits = (row) => (!wanted.adapter || row.adapter === wanted.adapter) && matches(row.codes);
      const rows = one.rows.filter(fits);
      const visible = rows.length > 0
        && (!wanted.profile || one.profile === wanted.profile)
        && (!wanted.level || one.level === wanted.level)
        && words.every((word) => one.words.includes(word));
      one.element.hidden = !visible;
      shown += visible;
      if (!visible) continue;
      const kept = new Set(rows.map((row) => row.adapter));
      for (const row of one.rows) row.element.hidden = !kept.has(row.adapter);
      for (const found of one.cases) found.hidden = !kept.has(found.dataset.adapter);
      for (const mark of one.marks) if (mark.dataset.adapter) mark.hidden = !kept.has(mark.dataset.adapter);
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector(".requirement:not([hidden])");
    }
    if (say) say.value = `${shown} of ${requirements.length} requirement${requirements.length === 1 ? "" : "s"}`;
    document.getElementById("none").hidden = shown > 0;
  }

  const address = () => {
    const found = new URLSearchParams(state()).toString();
    return found ? `#?${found}` : "#requirements";
  };

  function fill(query) {
    const wanted = new URLSearchParams(query);
    for (const field of fields) field.value = wanted.get(field.name) || "";
    for (const field of fields) if (field.selectedIndex === -1) field.value = "";
    apply();
  }

  function reveal(id) {
    const target = id && document.getElementById(id);
    if (!target) return;
    if (target.closest("[hidden]")) fill("");
    for (let inner = target; inner; inner = inner.parentElement) if (inner.tagName === "DETAILS") inner.open = true;
    const heading = target.querySelector("summary, h2, h3, h4, h5") || target;
    if (!heading.matches("summary, a, button")) heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    target.scrollIntoView();
  }

  function plain(hash) {
    try {
      return decodeURIComponent(hash);
    } catch {
      return hash;
    }
  }

  function go() {
    const hash = location.hash.slice(1);
    if (hash.startsWith("?")) {
      fill(hash.slice(1));
      if (Object.keys(state()).length) document.getElementById("requirements").scrollIntoView();
    } else reveal(plain(hash));
  }

  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { apply(); history.replaceState(null, "", address()); });
    document.getElementById("reset").addEventListener("click", () => { fill(""); history.replaceState(null, "", "#requirements"); });
    const each = (open) => () => {
      for (const one of requirements) if (!one.element.hidden) one.element.open = open;
    };
    document.getElementById("open-all").addEventListener("click", each(true));
    document.getElementById("close-all").addEventListener("click", each(false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.target.closest("input, select, textarea")) {
        event.preventDefault();
        form.elements.q.focus();
      }
    });
    apply();
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-filter]");
    if (link && form) {
      event.preventDefault();
      location.hash = `?${link.dataset.filter}`;
    }
  });
  addEventListener("hashchange", go);

  for (const code of document.querySelectorAll(".command code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.after(button);
  }

  // Findings of a kind one at a time. Without the script each is a box that opens.
  for (const group of document.querySelectorAll(".occurrences")) {
    const found = [...group.querySelectorAll(":scope > .occurrence")];
    if (found.length < 2) continue;
    const bar = document.createElement("div");
    const place = document.createElement("output");
    const more = group.nextElementSibling?.matches(".more") ? found[0].querySelector("summary b").textContent.split(" of ")[1] : found.length;
    let at = 0;
    const show = (number) => {
      at = Math.max(0, Math.min(found.length - 1, number));
      found.forEach((one, position) => { one.hidden = position !== at; if (position === at) one.open = true; });
      place.value = `${at + 1} of ${more}`;
      back.disabled = at === 0;
      on.disabled = at === found.length - 1;
    };
    const button = (sign, words, step) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = sign;
      made.setAttribute("aria-label", words);
      made.addEventListener("click", () => { show(at + step); if (made.disabled) (step < 0 ? on : back).focus(); });
      return made;
    };
    const back = button("<", "Previous occurrence", -1);
    const on = button(">", "Next occurrence", 1);
    bar.className = "stepper";
    bar.append(back, place, on);
    bar.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -at, End: found.length }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(at + step);
      if (document.activeElement.disabled || document.activeElement === document.body) (back.disabled ? on : back).focus();
    });
    group.prepend(bar);
    found.forEach((one, position) => { one.hidden = position !== 0; });
    place.value = `1 of ${more}`;
    back.disabled = true;
  }

  const opened = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open])")) { one.open = true; opened.push(one); }
  });
  addEventListener("afterprint", () => { for (const one of opened.splice(0)) one.open = false; });

  if (location.hash.length > 1) go();
})();

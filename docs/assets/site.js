// The theme puts a landmark without a name beside every block of code.
new MutationObserver(() => {
  document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, index) => {
    nav.setAttribute("aria-label", `Code ${index + 1}`);
  });
}).observe(document.documentElement, { childList: true, subtree: true });

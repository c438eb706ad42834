// How Scalar shows the reference: from here alone, with requests to the address that served the page.
const here = new URL('.', location.href).href;

globalThis.Scalar.createApiReference('#reference', {
  url: `${here}docs/openapi.json`,
  servers: [{ url: here.replace(/\/$/, '') }],
  setPageTitle: ({ title }) => `${title} · Pet Store`,
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: true,
  // The document has samples of its own, which run as they are.
  hiddenClients: true,
  // As they are sent.
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  // The header has one for all pages.
  hideDarkModeToggle: true,
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  hideClientButton: true,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});

// Remove the list of operations that the server has sent. If Scalar could not be loaded, the line above has thrown an
// error, and the list stays.
document.getElementById('content').remove();

document.querySelector('.skip').addEventListener('click', (event) => {
  // A hash would be an operation for Scalar.
  event.preventDefault();
  document.getElementById('content')?.focus();
});

// On a phone, the response is below the request, outside of the window.
document.addEventListener('click', ({ target }) => {
  if (target.closest('[data-addressbar-action="send"]')) {
    document.querySelector('section:has(> .response-section-content)')?.scrollIntoView({ block: 'nearest' });
  }
});

/** Names parts that Scalar leaves without a name, or gives the form of another product's key. */
function nameParts() {
  const all = (selector) => document.querySelectorAll(selector);
  for (const main of all('#reference main')) Object.assign(main, { id: 'content', tabIndex: -1 });
  for (const header of all('.t-doc__header > header')) {
    header.role = 'none';
    Object.assign(header.parentElement, { role: 'navigation', ariaLabel: 'Contents' });
  }
  for (const field of all('input[placeholder^="QUxM"]')) {
    field.placeholder = 'psk_live_…';
    field.ariaLabel = 'API key';
  }
  for (const field of all('.code-input-lite__editor[role="combobox"]')) {
    field.ariaLabel ||= field.dataset.placeholder || 'Value';
    // Scalar calls the field a combo box, but the field has no list.
    field.role = 'textbox';
  }
  // Scalar does not say whether the list of search results is open, and calls it a list even if nothing was found.
  for (const field of all('input[role="combobox"]')) field.ariaExpanded = 'true';
  for (const list of all('[id$="-search-result"]')) {
    list.role = list.querySelector('[role="option"]') ? 'listbox' : 'group';
  }
  for (const editor of all('.cm-content:not([aria-label])')) editor.ariaLabel = 'Content';
  // The name of a button must contain its text, "Show More".
  for (const button of all('.show-more[aria-label^="Show all"]')) {
    button.ariaLabel = button.ariaLabel.replace('Show all', 'Show more:');
  }
  // A button whose role is "none" must not have a name, but Scalar gives it one.
  for (const button of all('button[role="none"]')) button.removeAttribute('role');
  for (const button of all('button[class*="copy-button"]:not([aria-label])')) {
    button.ariaLabel = 'Copy';
    // The attribute may name an element that does not exist.
    button.removeAttribute('aria-controls');
  }
}

// The panel that sends requests may stand outside of #reference.
new MutationObserver(nameParts).observe(document.body, { childList: true, subtree: true });

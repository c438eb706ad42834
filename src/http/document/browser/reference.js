// Shows the API reference with Scalar. The page loads nothing from other servers, and sends requests to the address
// from which the page itself was loaded.
const here = new URL('.', location.href).href;

globalThis.Scalar.createApiReference('#reference', {
  url: `${here}docs/openapi.json`,
  servers: [{ url: here.replace(/\/$/, '') }],
  setPageTitle: ({ title }) => `${title} · Pet Store`,
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: true,
  // Hide the samples that Scalar generates, because the OpenAPI document has samples of its own, which run unchanged.
  hiddenClients: true,
  // Show the fields of a schema in the order in which the service sends the fields.
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  // Hide Scalar's switch between light and dark, because the site header has a switch for all pages.
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
  // Keep the link from adding `#content` to the address, because Scalar would take this text for an operation.
  event.preventDefault();
  document.getElementById('content')?.focus();
});

// On a phone, the response is below the request and outside of the window. So scroll to the response after a click on
// the button that sends the request.
document.addEventListener('click', ({ target }) => {
  if (target.closest('[data-addressbar-action="send"]')) {
    document.querySelector('section:has(> .response-section-content)')?.scrollIntoView({ block: 'nearest' });
  }
});

/**
 * Corrects names and roles of parts of the page for screen readers, because Scalar gives some parts no name or a wrong
 * role. In the field for the API key, also replaces the example, which has the form of another product's key.
 */
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
    // Scalar gives this field the role of a combo box, but the field has no list to choose from.
    field.role = 'textbox';
  }
  // Scalar does not tell screen readers that the list of search results is open. Scalar also gives the results the role
  // of a list if nothing was found.
  for (const field of all('input[role="combobox"]')) field.ariaExpanded = 'true';
  for (const list of all('[id$="-search-result"]')) {
    list.role = list.querySelector('[role="option"]') ? 'listbox' : 'group';
  }
  for (const editor of all('.cm-content:not([aria-label])')) editor.ariaLabel = 'Content';
  // The name of a button must contain its text, "Show More".
  for (const button of all('.show-more[aria-label^="Show all"]')) {
    button.ariaLabel = button.ariaLabel.replace('Show all', 'Show more:');
  }
  // Scalar gives these buttons a name and the role "none", with which a button must not have a name. So remove the
  // role.
  for (const button of all('button[role="none"]')) button.removeAttribute('role');
  for (const button of all('button[class*="copy-button"]:not([aria-label])')) {
    button.ariaLabel = 'Copy';
    // `aria-controls` may name an element that does not exist.
    button.removeAttribute('aria-controls');
  }
}

// Observe the whole body and not only `#reference`, because the panel that sends requests may stand outside of
// `#reference`.
new MutationObserver(nameParts).observe(document.body, { childList: true, subtree: true });

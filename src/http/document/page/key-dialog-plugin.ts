import type { Browser, Definitions, System, Wrapper } from './swagger-ui';

/**
 * Makes one field of the two ways to send a key, in a dialog that a keyboard and a screen reader can do with.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function keyDialogPlugin({ React: { createElement, useEffect, useState } }: System) {
  // Both fields take the same key, and different ones would be refused: X-API-Key is enough here.
  const withoutBearer =
    (original: (...all: unknown[]) => Definitions) =>
    (...all: unknown[]): Definitions =>
      original(...all).filter((definition) => !definition.some((scheme) => scheme.get('type') === 'http'));

  const dialog: Wrapper<object> = (Original) => (properties) => {
    const { document } = globalThis as unknown as Browser;
    const [opener] = useState(() => document.activeElement);
    useEffect(() => () => opener?.focus?.(), []);
    const attributes = { role: 'dialog', 'aria-modal': true, 'aria-label': 'API key' };
    return createElement('div', attributes, createElement(Original, properties));
  };

  const keyField: Wrapper<{ id?: string }> = (Original) => (properties) => {
    const forKeys = { autoComplete: 'off', spellCheck: false, placeholder: 'psk_live_…' };
    const more = properties.id === 'api_key_value' ? forKeys : {};
    return createElement(Original, { ...properties, ...more });
  };

  const named: Wrapper<object> = (Original) => (properties) => {
    const name = createElement('span', { className: 'petstore-unseen' }, 'Close');
    return createElement('span', null, createElement(Original, properties), name);
  };

  return {
    statePlugins: { auth: { wrapSelectors: { definitionsToAuthorize: withoutBearer } } },
    wrapComponents: { authorizationPopup: dialog, Input: keyField, CloseIcon: named },
  };
}

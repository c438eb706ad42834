import type { Browser, DeepLinkProperties, System } from './swagger-ui';

/**
 * Follows deep links (`#/Tag`, `#/Tag/operationId`) on the open page too; by itself Swagger UI reads them once, when it starts.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function deepLinksPlugin({ React: { createElement }, getSystem }: System) {
  const browser = globalThis as unknown as Browser;

  const show = (id: string) => {
    const element = browser.document.getElementById(id);
    if (element) {
      element.tabIndex = -1;
      element.focus({ preventScroll: true });
      element.scrollIntoView();
    }
  };

  const reveal = (hash: string) => {
    const { layoutActions, layoutSelectors } = getSystem();
    const [, tag = '', operation] = decodeURIComponent(hash).split('/');
    const keys = [['operations-tag', tag], ...(operation ? [['operations', tag, operation]] : [])];
    layoutActions.updateFilter('');
    for (const key of keys) {
      // Showing what is shown would add to the browser's history, and its way back would lead nowhere.
      if (!layoutSelectors.isShown(key, key.length === 2)) {
        layoutActions.show(key, true);
      }
    }
    // What the search had hidden is there again only after the page was drawn anew.
    setTimeout(() => show(operation ? `operations-${tag}-${operation}` : `operations-tag-${tag}`));
  };

  // They stand within buttons and headings that do the same, so a keyboard need not stop at them as well.
  const ownLink =
    () =>
    ({ path, text }: DeepLinkProperties) => {
      const onClick = (event: { preventDefault: () => void }) => event.preventDefault();
      const attributes = { className: 'nostyle', href: `#/${path}`, tabIndex: -1, onClick };
      return createElement('a', attributes, createElement('span', null, text));
    };

  return {
    fn: { reveal },
    wrapComponents: { DeepLink: ownLink },
    afterLoad: () => {
      browser.addEventListener('hashchange', () => {
        if (browser.location.hash.startsWith('#/')) {
          reveal(browser.location.hash);
        }
      });
    },
  };
}

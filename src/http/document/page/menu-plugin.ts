import type { System, Wrapper } from './swagger-ui';

/**
 * Puts a menu of the tags beside the page.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function menuPlugin({ React: { createElement } }: System) {
  const withMenu: Wrapper<object> = (Original, system) => (properties) => {
    const linkTo = (name: string) => {
      const href = `#/${encodeURIComponent(name)}`;
      // The browser fires an event for links that lead elsewhere; this link may point to where the page already is.
      return createElement('a', { href, onClick: () => system.fn.reveal(href) }, name);
    };
    const entries = system.fn.branches().map(({ name, children }) => {
      const below = children.map((child) => createElement('li', { key: child }, linkTo(child)));
      return createElement(
        'li',
        { key: name },
        linkTo(name),
        below.length > 0 && createElement('ul', null, below),
      );
    });
    const schemas = createElement('li', null, createElement('a', { href: '#schemas' }, 'Schemas'));
    const menu = createElement(
      'nav',
      { 'aria-label': 'Contents' },
      createElement('ul', null, entries, schemas),
    );
    const shown = entries.length > 0 ? menu : null;
    return createElement('div', { className: 'petstore-page' }, shown, createElement(Original, properties));
  };

  const withAnchor: Wrapper<object> = (Original) => (properties) =>
    createElement('div', { id: 'schemas' }, createElement(Original, properties));

  return { wrapComponents: { BaseLayout: withMenu, Models: withAnchor } };
}

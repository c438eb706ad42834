import type { Browser, System, Wrapper } from './swagger-ui';

/**
 * Follows the reader's choice of a light or a dark scheme, marks the page's head as such, and spares a choice of one server.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function framePlugin({ React: { createElement } }: System) {
  const banner: Wrapper<object> = (Original) => (properties) =>
    createElement('div', { role: 'banner' }, createElement(Original, properties));

  const choiceOfServers: Wrapper<object> = (Original, system) => (properties) =>
    system.specSelectors.servers().size > 1 ? createElement(Original, properties) : null;

  return {
    wrapComponents: { InfoContainer: banner, ServersContainer: choiceOfServers },
    afterLoad: () => {
      const { document, matchMedia } = globalThis as unknown as Browser;
      const dark = matchMedia('(prefers-color-scheme: dark)');
      const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
      follow();
      dark.addEventListener('change', follow);
    },
  };
}

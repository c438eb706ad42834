import type { SpecSelectors, System, TagList, Wrapper } from './swagger-ui';

/**
 * Shows the operations in groups, by the tree that `x-parent` makes of the tags.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function tagTreePlugin({ React: { createElement }, getSystem }: System) {
  const branches = () => {
    // There are none until the document has loaded.
    const listed = getSystem().specSelectors.specJson().get('tags') as TagList | undefined;
    const tags = listed?.toJS() ?? [];
    const childrenOf = (name?: string) => tags.filter((tag) => tag['x-parent'] === name);
    const namesOf = (listed: Record<string, string>[]) => listed.map(({ name }) => name!);
    return namesOf(childrenOf()).map((name) => ({ name, children: namesOf(childrenOf(name)) }));
  };

  const asTree: Wrapper<{ specSelectors: SpecSelectors }> = (Original, system) => (properties) => {
    const { specSelectors } = properties;
    const shown = specSelectors.taggedOperations().filter((tag) => tag.get('operations').size > 0);
    const title = (name: string) => {
      const scroll = (element: unknown) =>
        element && system.layoutActions.readyToScroll(['operations-tag', name], element);
      return createElement('h2', { id: `operations-tag-${name}`, ref: scroll }, name);
    };
    const groups = branches().map(({ name, children }) => {
      const names = [name, ...children].filter((tag) => shown.has(tag));
      const taggedOperations = () => shown.filter((_tag, tag) => names.includes(tag));
      const part = { ...properties, specSelectors: { ...specSelectors, taggedOperations } };
      const attributes = { key: name, className: 'petstore-group', 'aria-label': name };
      const heading = children.length > 0 ? title(name) : null;
      const content = createElement(Original, part);
      return names.length > 0 ? createElement('section', attributes, heading, content) : null;
    });
    const nothing = createElement('p', { role: 'status' }, 'No operation matches.');
    return createElement('div', null, ...(shown.size > 0 ? groups : [nothing]));
  };

  return { fn: { branches }, wrapComponents: { operations: asTree } };
}

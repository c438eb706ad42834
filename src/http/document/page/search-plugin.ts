import type { ImmutableMap, System, TaggedOperations, Wrapper } from './swagger-ui';

/**
 * Finds operations by their words (method, path, summary, tag, marker); Swagger UI's own filter knows the tags alone.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function searchPlugin({ React: { createElement } }: System) {
  const textOf = (operation: ImmutableMap, tag: string): string => {
    const details = operation.get('operation') as ImmutableMap;
    const marks = [details.get('x-stability'), details.get('deprecated') ? 'deprecated' : ''];
    const parts = [tag, operation.get('method'), operation.get('path'), details.get('summary'), ...marks];
    return parts.join(' ').toLowerCase();
  };

  const opsFilter = (tags: TaggedOperations, phrase: string): TaggedOperations => {
    const words = phrase.toLowerCase().split(/\s+/);
    const matches = (text: string) => words.every((word) => text.includes(word));
    return tags
      .map((tag, name) =>
        tag.set(
          'operations',
          tag.get('operations').filter((operation) => matches(textOf(operation, name))),
        ),
      )
      .filter((tag) => tag.get('operations').size > 0);
  };

  const field: Wrapper<object> = (_original, system) => () => {
    const phrase = system.layoutSelectors.currentFilter();
    const input = createElement('input', {
      id: 'petstore-search',
      type: 'search',
      placeholder: 'Path, word or tag',
      value: typeof phrase === 'string' ? phrase : '',
      onChange: (event: { target: { value: string } }) =>
        system.layoutActions.updateFilter(event.target.value),
    });
    const label = createElement('label', { htmlFor: 'petstore-search' }, 'Find an operation');
    return createElement('div', { className: 'petstore-search wrapper', role: 'search' }, label, input);
  };

  return { fn: { opsFilter }, wrapComponents: { FilterContainer: field } };
}

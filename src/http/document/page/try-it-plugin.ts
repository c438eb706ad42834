import type { ImmutableMap, ParameterRowProperties, System, Wrapper } from './swagger-ui';

/**
 * Leaves what is optional empty until somebody fills it in: the example of an `If-Match` would fail every change that is
 * tried, and those of all filters together would find nothing.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function tryItPlugin({ React: { createElement } }: System) {
  const row: Wrapper<ParameterRowProperties> = (Original) => (properties) => {
    const { rawParam, specSelectors } = properties;
    const withoutExample = (...parameter: unknown[]): ImmutableMap =>
      specSelectors
        .parameterWithMetaByIdentity(...parameter)
        .delete('example')
        .deleteIn(['schema', 'example']);
    // A row takes its first value from here; the example that it shows comes to it by another way.
    const selectors = { ...specSelectors, parameterWithMetaByIdentity: withoutExample };
    const changed = rawParam.get('required') === true ? {} : { specSelectors: selectors };
    return createElement(Original, { ...properties, ...changed });
  };

  return { wrapComponents: { parameterRow: row } };
}

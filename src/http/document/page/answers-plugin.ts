import type { System, Wrapper } from './swagger-ui';

/**
 * Folds the header fields of a described answer: each answer has a dozen, and an operation has a dozen answers.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function answersPlugin({ React: { createElement } }: System) {
  const folded: Wrapper<{ headers?: { size: number } }> = (Original) => (properties) => {
    const count = properties.headers?.size ?? 0;
    const summary = createElement('summary', null, `Headers (${count})`);
    const fields = createElement(Original, properties);
    return count > 0 ? createElement('details', { className: 'petstore-headers' }, summary, fields) : null;
  };

  return { wrapComponents: { headers: folded } };
}

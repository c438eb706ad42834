import type { OpenAPIObject } from '@nestjs/swagger';
import { errorCatalogue } from '#libs/http';
import { guidePath } from '../guides/guides-list';
import type { Guide } from '../guides/guides-markdown';
import { operationsOf } from './frame';

/** An entry of the search index, with its title and text. */
export interface Findable {
  title: string;
  kind: string;
  text: string;
  /** Searched, but not shown. */
  words?: string;
  href: string;
}

/** All searchable entries: operations, error codes and the guides' sections. */
export function searchIndex(document: OpenAPIObject, guides: Guide[]): Findable[] {
  const operations = operationsOf(document).map(({ path, method, operation, href, marks }) => {
    const { summary = '', description = '', tags = [], operationId, parameters = [] } = operation;
    const names = parameters.map((part) =>
      'name' in part ? part.name : part.$ref.slice(part.$ref.lastIndexOf('/') + 1),
    );
    const words = [...tags, operationId, ...names, ...marks].join(' ');
    const text = `${summary}. ${description.replace(/[`*]/g, '')}`;
    return { title: `${method.toUpperCase()} ${path}`, kind: 'Operation', text, words, href };
  });
  const errors = errorCatalogue().map(({ code, status, when }) => {
    const text = `${status}: ${when.replaceAll('`', '')}`;
    return { title: code, kind: 'Error', text, href: `${guidePath('errors')}#${code}` };
  });
  const sections = guides.flatMap((guide) =>
    guide.sections.map(({ title, level, anchor, text }) => {
      const name = level === 1 ? title : `${guide.title}: ${title}`;
      return {
        title: name,
        kind: 'Guide',
        text,
        href: guidePath(guide.name) + (level === 1 ? '' : `#${anchor}`),
      };
    }),
  );
  return [...operations, ...errors, ...sections];
}

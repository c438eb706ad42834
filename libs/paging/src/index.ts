export { InvalidCursorError, cursorAfter, idBefore } from './cursor';
export { Paged, pageOf, type Page } from './page';
export { type List, nameBeginsWith, namedPageStatement, pageStatement } from './page-statements';
export { PageReader, type Parameter, type Selection } from './page-reader';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageQuery, cursorText } from './page-query';

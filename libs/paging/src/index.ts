export { InvalidCursorError, cursorAfter, idBefore } from './cursor';
export { Paged, pageOf, type Page } from './page';
export { type List, nameBeginsWith, namedPageStatement, pageStatement } from './page-statements';
export { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, PageQuery } from './page-query';

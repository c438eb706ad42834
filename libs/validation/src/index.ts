export { BodyExamples } from './body-examples.decorator';
export { AnswerField, Field, QueryField, RepeatableQueryField } from './field.decorator';
export { IdParam } from './id-param.decorator';
export { RequestValidationPipe, validated } from './request-validation.pipe';
export { boolean, except, identifier, integer, oneOf, text, timestamp, type Rule } from './rules';
export { UnknownQueryGuard } from './unknown-query.guard';

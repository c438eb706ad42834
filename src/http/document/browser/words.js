// Describes the document's constraints in words (ranges, lengths, counts), with an example of each parameter.

const UNITS = { integer: '', string: ' characters', array: ' items' };
const KEYWORDS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'pattern',
];
/** Bounds from here on are those of the type, and are not shown. */
const LARGEST = 2 ** 31 - 1;

function bounds({ type, format, ...schema }) {
  if (!(type in UNITS) || ['int64', 'date', 'date-time'].includes(format)) {
    return '';
  }
  const given = KEYWORDS.slice(0, 6).filter(
    (keyword) => Math.abs(schema[keyword]) < LARGEST && schema[keyword] > 0,
  );
  const words = given.map((keyword) => {
    return `${keyword.startsWith('min') ? 'at least' : 'at most'} ${schema[keyword].toLocaleString('en')}`;
  });
  const text = words.join(', ') + UNITS[type];
  return words.length > 0 ? ` ${text[0].toUpperCase()}${text.slice(1)}.` : '';
}

/** Examples of optional fields are shown but not filled in: that of `If-Match` would make every request fail. */
function describeParameter(parameter) {
  const { schema, required } = parameter;
  const example = [parameter.example ?? schema.example].flat().join(', ');
  parameter.description += `${bounds(schema)} Example: \`${example}\`.`;
  if (!required) {
    delete parameter.example;
    delete schema.example;
  }
}

/** Changes the document, or a part of it. */
export function inWords(part) {
  if (typeof part !== 'object' || part === null) {
    return;
  }
  if (part.in && part.schema) {
    describeParameter(part);
  } else if (part.type in UNITS) {
    part.description = `${part.description ?? ''}${bounds(part)}`.trim();
    KEYWORDS.forEach((keyword) => delete part[keyword]);
    part.format = part.type === 'integer' ? undefined : part.format;
  }
  Object.values(part).forEach(inWords);
}

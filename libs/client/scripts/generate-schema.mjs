// Turns the interface description (JSON on standard input) into the types of the client, in the file that is named.
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import openapiTS, { COMMENT_HEADER, astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const document = JSON.parse(await text(process.stdin));
for (const operations of Object.values(document.paths)) {
  for (const { responses } of Object.values(operations)) {
    keepWhatCallsNeed(responses);
  }
}
delete document.components.headers;
delete document.components.responses;

// A field with a default may be left out of a request, which openapi-typescript takes for required unless told.
const types = await openapiTS(document, { defaultNonNullable: false });
const config = await resolveConfig(import.meta.filename);
const source = `${COMMENT_HEADER}/* eslint-disable @typescript-eslint/consistent-indexed-object-style */\n${astToString(types)}`;
writeFileSync(process.argv[2], await format(source, { ...config, parser: 'typescript' }));

/** Refusals all have the one Error object, and header fields are read by name: with both it would be four times as long. */
function keepWhatCallsNeed(responses) {
  for (const [status, response] of Object.entries(responses)) {
    delete response.headers;
    for (const content of Object.values(response.content ?? {})) {
      delete content.example;
      delete content.examples;
    }
    if (!/^[23]/.test(status)) {
      delete responses[status];
    }
  }
}

import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { walk } from '../../../support/document';

type Examples = Record<string, { value: unknown }>;

/** Holds the examples of a document against their schemas. */
export class ExampleJudge {
  private readonly ajv = new Ajv({ strict: false });
  /** By the text of the schema: most of them stand in many places. */
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly failures: string[] = [];
  private checked = 0;

  constructor(private readonly document: OpenAPIObject) {
    addFormats(this.ajv);
    const closed = structuredClone(document);
    for (const schema of Object.values(closed.components?.schemas ?? {})) {
      if ('type' in schema && schema.type === 'object') {
        schema.additionalProperties = false;
      }
    }
    this.ajv.addSchema(closed, 'document');
  }

  /** @returns how many examples there are, and what is wrong with which of them */
  judgeAll(): { checked: number; failures: string[] } {
    walk(this.document, '', (name, part) => {
      const schema = 'schema' in part ? part.schema : part;
      if ('example' in part) {
        this.judge(name, schema, part.example);
      }
      if ('schema' in part) {
        for (const [key, { value }] of Object.entries((part.examples ?? {}) as Examples)) {
          this.judge(`${name}/${key}`, schema, value);
        }
      }
    });
    return { checked: this.checked, failures: this.failures };
  }

  private judge(name: string, schema: unknown, example: unknown): void {
    this.checked += 1;
    const validate = this.validatorOf(JSON.stringify(schema).replaceAll('"#/', '"document#/'));
    if (!validate(example)) {
      this.failures.push(`${name}: ${this.ajv.errorsText(validate.errors)}`);
    }
  }

  private validatorOf(schema: string): ValidateFunction {
    let validate = this.validators.get(schema);
    if (!validate) {
      validate = this.ajv.compile(JSON.parse(schema) as object);
      this.validators.set(schema, validate);
    }
    return validate;
  }
}

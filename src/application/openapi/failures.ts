import { type AnyOperation, bodyType, isWriting, takesBody } from '#application/operations/operation.ts';
import { failures } from '#domain/failures.ts';
import { type FailureCode, failure, type InputError } from '#domain/shared/failure.ts';
import { type ErrorForm, openAiErrors } from '#exchange/error-form.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { headersNamed } from './headers.ts';

/** Failures that every operation has in addition to its own. */
const commonFailures: ReadonlyArray<FailureCode> = [
  'key-required',
  'key-invalid',
  'too-many-answer-bytes',
  'answers-full',
  'connections-full',
  'internal-error',
  'unavailable',
  'disk-full',
  'stream-unreadable',
  'log-changed',
];
const bodyFailures: ReadonlyArray<FailureCode> = [
  'body-too-large',
  'unsupported-media-type',
  'body-too-slow',
  'body-evicted',
  'too-many-body-bytes',
  'bodies-full',
];
const jsonFailures: ReadonlyArray<FailureCode> = [
  'malformed-json',
  'invalid-encoding',
  'nesting-too-deep',
  'too-many-values',
];
const commandFailures: ReadonlyArray<FailureCode> = [
  'append-too-large',
  'idempotency-key-in-progress',
  'idempotency-key-reused',
  'too-many-conflicts',
];

/** Problem details, or the errors of a protocol of the gateway. */
function formOf({ plane, errorForm }: AnyOperation): ErrorForm | null {
  if (plane === 'control') return null;
  return errorForm?.({}) ?? openAiErrors;
}

export function refusals(operation: AnyOperation): JsonObject {
  const form = formOf(operation);
  const statusOf = (code: FailureCode) =>
    form === null ? failures[code].status : form.statusOf(failure(code, failures[code].title));
  const byStatus = Map.groupBy(failuresOf(operation), statusOf);
  const sorted = [...byStatus].sort(([left], [right]) => left - right);
  return Object.fromEntries(sorted.map(([status, codes]) => [String(status), refusal(operation, status, codes)]));
}

/** The failures of the operation itself and of its kind. */
function failuresOf(operation: AnyOperation): ReadonlyArray<FailureCode> {
  const { scope, kind, plane, hasRevision, failures: own } = operation;
  return [
    ...new Set([
      ...commonFailures,
      ...(scope === null ? [] : (['scope-required', 'key-type-not-allowed'] as const)),
      ...own,
      ...(takesBody(operation) ? bodyFailures : []),
      ...(bodyType(operation) === 'application/json' ? jsonFailures : []),
      ...(bodyType(operation) === 'application/json' && plane === 'control' ? (['number-not-exact'] as const) : []),
      'invalid-input' as const,
      ...(kind === 'streaming' ? [] : (['invalid-header'] as const)),
      ...(isWriting(operation) ? commandFailures : []),
      ...(kind === 'query' || kind === 'download' ? (['read-model-behind', 'position-beyond-log'] as const) : []),
      ...(kind === 'download' ? (['range-not-satisfiable'] as const) : []),
      ...(kind === 'command' && hasRevision ? ['precondition-failed' as const] : []),
    ]),
  ];
}

function refusal(operation: AnyOperation, status: number, codes: ReadonlyArray<FailureCode>): JsonObject {
  const form = formOf(operation);
  const schema = errorSchema(operation);
  const type = form === null ? 'application/problem+json' : 'application/json';
  const examples = Object.fromEntries(
    codes.map((code) => [code, { $ref: `#/components/examples/${exampleName(code, form)}` }]),
  );
  return {
    description: codes.map((code) => `${failures[code].title} (\`${code}\`)`).join('; '),
    headers: headersNamed([
      'X-Request-Id',
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...(status === 429 || status === 503 ? ['Retry-After'] : []),
    ]),
    content: { [type]: { schema, examples } },
  };
}

export function errorSchema(operation: AnyOperation): JsonObject {
  return { $ref: `#/components/schemas/${schemaNames[formOf(operation)?.name ?? 'problem']}` };
}

const schemaNames = { problem: 'Problem', openai: 'GatewayError', anthropic: 'MessagesError' } as const;

function exampleName(code: FailureCode, form: ErrorForm | null): string {
  if (form === null) return code;
  return form.name === 'anthropic' ? `messages-${code}` : `gateway-${code}`;
}

/** Examples of failures, by the names that operations use to refer to them. */
export function failureExamples(operations: ReadonlyArray<AnyOperation>): JsonObject {
  const named = operations.flatMap((operation) => {
    const form = formOf(operation);
    return failuresOf(operation).map((code) => [exampleName(code, form), exampleOf(code, form)] as const);
  });
  return Object.fromEntries(named);
}

function exampleOf(code: FailureCode, form: ErrorForm | null): JsonObject {
  const { title } = failures[code];
  const example =
    code === 'invalid-input' ? failure(code, exampleDetail, { errors: exampleErrors }) : failure(code, `${title}.`);
  const value =
    form !== null
      ? form.ofFailure(example, exampleRequestId, 'body')
      : {
          type: `/docs/problems#${code}`,
          title,
          status: failures[code].status,
          detail: example.detail,
          instance: '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b',
          code,
          requestId: exampleRequestId,
          ...(example.errors === undefined ? {} : { errors: example.errors.map((error) => ({ ...error })) }),
        };
  return { summary: title, value };
}

const exampleRequestId = '0b8f8a54-6d7c-4f0e-9a54-2f3c1f6f0c11';
const exampleErrors: ReadonlyArray<InputError> = [{ pointer: '/name', message: 'must have at least 1 character' }];
const exampleDetail = '/name must have at least 1 character.';

const errorObjectSchema: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    type: { type: 'string' },
    param: { type: ['string', 'null'] },
    code: { type: ['string', 'null'] },
  },
  required: ['message', 'type', 'param', 'code'],
};

const problemSchema: JsonObject = {
  type: 'object',
  description: 'Problem details (RFC 9457)',
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri-reference' },
    code: { $ref: '#/components/schemas/ProblemCode' },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: { $ref: '#/components/schemas/InputError' },
    },
    error: {
      $ref: '#/components/schemas/ErrorObject',
      description: 'The same for clients of the gateway, for operations that they use too',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
};

const gatewayErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    error: { $ref: '#/components/schemas/ErrorObject' },
    detail: {
      type: 'array',
      description: 'For invalid input (422)',
      items: { $ref: '#/components/schemas/ValidationError' },
    },
  },
  required: ['error'],
};

const messagesErrorSchema: JsonObject = {
  type: 'object',
  description: 'An error as clients of Anthropic read it',
  properties: {
    type: { type: 'string', const: 'error' },
    error: {
      type: 'object',
      properties: { type: { type: 'string' }, message: { type: 'string' } },
      required: ['type', 'message'],
    },
    request_id: { type: 'string' },
  },
  required: ['type', 'error', 'request_id'],
};

const inputErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    pointer: { type: 'string', description: 'JSON pointer (RFC 6901) to the member' },
    parameter: { type: 'string', description: 'The query parameter, if the fault is not in the body' },
    message: { type: 'string' },
  },
  required: ['pointer', 'message'],
};

const validationErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    loc: { type: 'array', items: { type: ['string', 'integer'] } },
    msg: { type: 'string' },
    type: { type: 'string' },
    input: {},
    ctx: { type: 'object' },
  },
  required: ['loc', 'msg', 'type'],
};

/** The schemas of errors on both planes, by name. */
export const errorSchemas: Readonly<Record<string, JsonObject>> = {
  Problem: problemSchema,
  ProblemCode: { type: 'string', enum: Object.keys(failures), description: 'What went wrong: see /docs/problems' },
  InputError: inputErrorSchema,
  GatewayError: gatewayErrorSchema,
  MessagesError: messagesErrorSchema,
  ErrorObject: errorObjectSchema,
  ValidationError: validationErrorSchema,
};

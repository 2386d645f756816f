import { type FailureCode, failures, gatewayStatus } from '#domain/shared/failure.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { type Hoist, jsonSchema, members, requiredMembers } from './json-schema.ts';
import type { AnyOperation } from './operation.ts';
import { pathParameters } from './registry.ts';

/** The version of the interface: the contract's. */
export const interfaceVersion = '0.2.0';

/** The failures that any operation may answer, besides its own. */
const commonFailures: ReadonlyArray<FailureCode> = [
  'key-required',
  'key-invalid',
  'internal-error',
  'unavailable',
  'disk-full',
  'stream-unreadable',
];
const bodyFailures: ReadonlyArray<FailureCode> = [
  'body-too-large',
  'unsupported-media-type',
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

/**
 * The interface in OpenAPI 3.1: every operation with its parameters, body, answers, failures and an example.
 * @throws Error for a codec that has no JSON Schema
 */
export function openApiDocument(operations: ReadonlyArray<AnyOperation>): JsonObject {
  const schemas: Record<string, JsonObject> = { Problem: problemSchema, GatewayError: gatewayErrorSchema };
  const hoist: Hoist = (name, schema) => {
    schemas[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  const paths: Record<string, JsonObject> = { '/healthz': { get: healthOperation } };
  for (const operation of operations) {
    const path = operation.http.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.http.method]: describe(operation, hoist) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchyard',
      version: interfaceVersion,
      description: 'An event-sourced control plane and model gateway for conversational agents.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(['Liveness', ...operations.map((operation) => operation.group)])].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API key>' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'x-api-key: <API key>' },
      },
      headers,
      schemas,
    },
  };
}

function describe(operation: AnyOperation, hoist: Hoist): JsonObject {
  const description = [operation.description, scopeNote(operation)].filter((text) => text !== undefined).join('\n\n');
  const body = requestBody(operation);
  return {
    operationId: operation.name,
    summary: operation.summary,
    description,
    tags: [operation.group],
    parameters: parameters(operation),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      [operation.http.status]: success(operation, hoist),
      ...refusals(operation),
      ...(asksProvider(operation) ? { '4XX': providerRefusal } : {}),
    },
  };
}

function scopeNote({ scope }: AnyOperation): string {
  return scope === null ? 'Any valid key may do this.' : `Needs the scope \`${scope}\`.`;
}

function takesBody({ http }: AnyOperation): boolean {
  return http.method === 'post' || http.method === 'put' || http.method === 'patch';
}

/** The media type of the body; null where there is none. */
function bodyType(operation: AnyOperation): string | null {
  if (!takesBody(operation)) return null;
  return operation.kind === 'relay' ? operation.consumes : 'application/json';
}

/** Whether a provider answers: its part of an interface is its own. */
function asksProvider(operation: AnyOperation): boolean {
  return operation.kind === 'relay' && takesBody(operation);
}

function parameters(operation: AnyOperation): ReadonlyArray<JsonObject> {
  const schema = jsonSchema(operation.input);
  const inPath = pathParameters(operation.http.path);
  const required = new Set(requiredMembers(schema));
  const path = inPath.map((name) => ({ name, in: 'path', required: true, schema: members(schema)[name] ?? {} }));
  if (takesBody(operation)) return [...path, ...requestHeaders(operation)];
  const query = Object.entries(members(schema))
    .filter(([name]) => !inPath.includes(name))
    .map(([name, member]) => ({ name, in: 'query', required: required.has(name), schema: member }));
  return [...path, ...query, ...requestHeaders(operation)];
}

function requestHeaders({ kind, hasRevision }: AnyOperation): ReadonlyArray<JsonObject> {
  if (kind === 'relay') return [];
  if (kind === 'query') return [minPositionHeader];
  return [idempotencyKeyHeader, ...(hasRevision ? [ifMatchHeader] : [])];
}

/** The body's schema: the members of the input that are not in the path. Null when there is nothing to send. */
export function bodySchema(operation: AnyOperation): JsonObject | null {
  if (!takesBody(operation)) return null;
  const schema = jsonSchema(operation.input);
  const inPath = new Set(pathParameters(operation.http.path));
  const properties = Object.entries(members(schema)).filter(([name]) => !inPath.has(name));
  if (properties.length === 0) return null;
  const required = requiredMembers(schema).filter((name) => !inPath.has(name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    // What is passed on as it is shall be sendable by whoever makes a client of this.
    ...(asksProvider(operation) ? { additionalProperties: true } : {}),
  };
}

function requestBody(operation: AnyOperation): JsonObject | null {
  const schema = bodySchema(operation);
  const type = bodyType(operation);
  if (schema === null || type === null) return null;
  const { input } = operation.example;
  const content = { schema, ...(input === undefined ? {} : { example: input }) };
  return { required: requiredMembers(schema).length > 0, content: { [type]: content } };
}

function success(operation: AnyOperation, hoist: Hoist): JsonObject {
  const { output, example, http, kind, hasRevision, paged } = operation;
  const named = [
    'X-Request-Id',
    ...(hasRevision ? ['ETag'] : []),
    ...(kind === 'command' ? ['Switchyard-Position'] : []),
    ...(paged ? ['Link'] : []),
    ...(http.status === 201 ? ['Location'] : []),
    ...(asksProvider(operation) ? servedBy : []),
  ];
  const answer = {
    description: operation.summary,
    headers: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
  const others = (operation.kind === 'relay' ? operation.produces : []).map(
    (type) => [type, { schema: plainSchema(type) }] as const,
  );
  if (output === null && others.length === 0) return answer;
  const content = output !== null && {
    schema: jsonSchema(output, hoist),
    ...(example.output === undefined ? {} : { example: example.output }),
  };
  return { ...answer, content: { ...(content && { 'application/json': content }), ...Object.fromEntries(others) } };
}

/** What is no JSON: text, a stream of events too, or bytes. */
function plainSchema(type: string): JsonObject {
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

/** Every failure that an operation may answer, by status. */
function refusals(operation: AnyOperation): JsonObject {
  const statusOf = (code: FailureCode) => (operation.plane === 'gateway' ? gatewayStatus(code) : failures[code].status);
  const byStatus = Map.groupBy(failuresOf(operation), statusOf);
  const sorted = [...byStatus].sort(([left], [right]) => left - right);
  return Object.fromEntries(sorted.map(([status, codes]) => [String(status), refusal(operation, status, codes)]));
}

/** The failures of an operation: its own and those that its kind has. */
export function failuresOf(operation: AnyOperation): ReadonlyArray<FailureCode> {
  const { scope, kind, hasRevision, failures: own } = operation;
  return [
    ...new Set([
      ...commonFailures,
      ...(scope === null ? [] : (['scope-required', 'key-type-not-allowed'] as const)),
      ...own,
      ...(takesBody(operation) ? bodyFailures : []),
      ...(bodyType(operation) === 'application/json' ? jsonFailures : []),
      'invalid-input' as const,
      ...(kind === 'relay' ? [] : (['invalid-header'] as const)),
      ...(kind === 'command' ? commandFailures : []),
      ...(kind === 'query' ? (['read-model-behind', 'position-beyond-log'] as const) : []),
      ...(kind === 'command' && hasRevision ? ['precondition-failed' as const] : []),
    ]),
  ];
}

function refusal({ plane }: AnyOperation, status: number, codes: ReadonlyArray<FailureCode>): JsonObject {
  const gateway = plane === 'gateway';
  const schema = { $ref: `#/components/schemas/${gateway ? 'GatewayError' : 'Problem'}` };
  const type = gateway ? 'application/json' : 'application/problem+json';
  const named = [
    'X-Request-Id',
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ];
  return {
    description: codes.map((code) => `${failures[code].title} (\`${code}\`)`).join('; '),
    headers: Object.fromEntries(named.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { [type]: { schema } },
  };
}

/** Tell who served a call. */
const servedBy = ['X-Switchyard-Target', 'X-Switchyard-Attempts', 'X-Switchyard-Provider-Request-Id'];

const providerRefusal: JsonObject = {
  description: 'What the provider refuses, with its status and its body',
  headers: Object.fromEntries(
    ['X-Request-Id', ...servedBy].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/GatewayError' } } },
};

const healthOperation: JsonObject = {
  operationId: 'get_health',
  summary: 'Whether the service is alive',
  tags: ['Liveness'],
  security: [],
  responses: {
    '200': {
      description: 'It is',
      content: {
        'application/json': {
          schema: {
            type: 'object',
            properties: {
              status: { type: 'string', const: 'ok' },
              service: { type: 'string', const: 'service-api' },
              version: { type: 'string' },
            },
            required: ['status', 'service', 'version'],
            additionalProperties: false,
          },
          example: { status: 'ok', service: 'service-api', version: interfaceVersion },
        },
      },
    },
  },
};

const text = (description: string, example: string): JsonObject => ({
  description,
  schema: { type: 'string' },
  example,
});

const headers: JsonObject = {
  'X-Request-Id': text('The request’s id, in the log as well', 'cm3v8k2p90000qzrm4d1x7w5b'),
  ETag: text('The revision: send it back as If-Match', '"3"'),
  'Switchyard-Position': text('Where the change stands: send it back as Switchyard-Min-Position', '42'),
  Link: text('The next page', '</v1/projects?limit=10&cursor=abc>; rel="next"'),
  Location: text('Where to read what was created', '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b'),
  'X-Switchyard-Target': text('The provider and its model that answered', 'openai/gpt-4.1'),
  'X-Switchyard-Attempts': {
    description: 'Tries, that one included',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'X-Switchyard-Provider-Request-Id': text('The provider’s own id of the request, where it gives one', 'req_7f3a9c'),
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 }, example: 1 },
  'WWW-Authenticate': text('How to present a key', 'Bearer realm="switchyard"'),
};

const idempotencyKeyHeader: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key with the same body answers as the first time, for 24 hours at least.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const ifMatchHeader: JsonObject = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'An ETag: refuses with 412 when the resource has changed since.',
  schema: { type: 'string' },
  example: '"3"',
};

const minPositionHeader: JsonObject = {
  name: 'Switchyard-Min-Position',
  in: 'header',
  required: false,
  description: 'A Switchyard-Position: the answer holds what was written there, or is 503 after a second.',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
};

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
    code: { type: 'string', enum: Object.keys(failures) },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          pointer: { type: 'string', description: 'JSON pointer (RFC 6901)' },
          message: { type: 'string' },
        },
        required: ['pointer', 'message'],
      },
    },
    error: { ...errorObjectSchema, description: 'The same for clients of the gateway, where they may ask this too' },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
  example: {
    type: '/docs/problems#flow-not-found',
    title: 'No such flow',
    status: 404,
    detail: 'There is no flow cm3v8k2p90000qzrm4d1x7w5b that this key can access.',
    instance: '/v1/flows/cm3v8k2p90000qzrm4d1x7w5b',
    code: 'flow-not-found',
    requestId: '0b8f8a54-6d7c-4f0e-9a54-2f3c1f6f0c11',
  },
};

const gatewayErrorSchema: JsonObject = {
  type: 'object',
  properties: {
    error: errorObjectSchema,
    detail: {
      type: 'array',
      description: 'For invalid input (422)',
      items: {
        type: 'object',
        properties: {
          loc: { type: 'array', items: { type: ['string', 'integer'] } },
          msg: { type: 'string' },
          type: { type: 'string' },
          input: {},
          ctx: { type: 'object' },
        },
        required: ['loc', 'msg', 'type'],
      },
    },
  },
  required: ['error'],
};

import { isDeepStrictEqual } from 'node:util';
import { type Hoist, jsonSchema, members, requiredMembers } from '#application/operations/json-schema.ts';
import { type AnyOperation, asksProvider, bodyType, isWriting, takesBody } from '#application/operations/operation.ts';
import { createdId, createdUnder, pathParameters } from '#application/operations/registry.ts';
import { DryRun } from '#domain/history/record.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { errorSchema, errorSchemas, failureExamples, refusals } from './failures.ts';
import { headersNamed, requestHeaders, responseHeaders } from './headers.ts';

/** The contract names it. */
export const interfaceVersion = '0.2.0';

/**
 * OpenAPI 3.1: every operation with its parameters, body, answers, failures and an example.
 * @param version the version of the product; the interface has its own
 * @throws Error for a codec without a JSON Schema
 */
export function openApiDocument(operations: ReadonlyArray<AnyOperation>, version: string): JsonObject {
  const schemas: Record<string, JsonObject> = { ...errorSchemas, Health: healthSchema };
  const hoist: Hoist = (name, schema) => {
    const known = schemas[name] ?? schema;
    if (!isDeepStrictEqual(known, schema)) throw new Error(`Two schemas are named ${name}`);
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  const paths: Record<string, JsonObject> = { '/healthz': { get: healthOperation } };
  for (const operation of operations) {
    const path = operation.http.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.http.method]: describe(operation, operations, hoist) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchyard',
      version: interfaceVersion,
      'x-switchyard-version': version,
      description: 'An event-sourced control plane and model gateway for conversational agents.',
      contact: { name: 'The operator of this service' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(['Liveness', ...operations.map(({ group }) => group)])].map(describeGroup),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: '`Authorization: Bearer <API key>`' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: '`x-api-key: <API key>`' },
      },
      headers: responseHeaders,
      examples: failureExamples(operations),
      schemas,
    },
  };
}

function describeGroup(name: string): JsonObject {
  const description = groupDescriptions[name];
  return description === undefined ? { name } : { name, description };
}

function describe(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>, hoist: Hoist): JsonObject {
  const description = [operation.description, scopeNote(operation)].filter((text) => text !== undefined).join('\n\n');
  const body = requestBody(operation, hoist);
  return {
    operationId: operation.name,
    summary: operation.summary,
    description,
    tags: [operation.group],
    parameters: parameters(operation, hoist),
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      [operation.http.status]: success(operation, operations, hoist),
      ...(isWriting(operation) ? triedAnswer(operation, hoist) : {}),
      ...(operation.kind === 'download' ? partialContent : {}),
      ...(operation.isConditional === true ? { '304': notModified } : {}),
      ...refusals(operation),
      ...(asksProvider(operation) ? { '4XX': providerRefusal(operation) } : {}),
    },
  };
}

function scopeNote({ scope, alsoScope }: AnyOperation): string {
  if (scope === null) return 'Any valid key may do this.';
  return alsoScope === undefined
    ? `Needs the scope \`${scope}\`.`
    : `Needs the scopes \`${scope}\` and \`${alsoScope}\`.`;
}

function parameters(operation: AnyOperation, hoist: Hoist): ReadonlyArray<JsonObject> {
  const schema = jsonSchema(operation.input, hoist);
  const inPath = pathParameters(operation.http.path);
  const required = new Set(requiredMembers(schema));
  const path: JsonObject[] = inPath.map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: members(schema)[name] ?? {},
  }));
  if (isWriting(operation)) path.push(dryRunParameter);
  if (takesBody(operation)) return [...path, ...requestHeaders(operation)];
  const query = Object.entries(members(schema))
    .filter(([name]) => !inPath.includes(name))
    .map(([name, member]) => ({ name, in: 'query', required: required.has(name), schema: member }));
  return [...path, ...query, ...requestHeaders(operation)];
}

/** The members of the input that are not in the path. */
export function bodySchema(operation: AnyOperation, hoist?: Hoist): JsonObject | null {
  if (!takesBody(operation)) return null;
  const schema = jsonSchema(operation.input, hoist);
  const inPath = new Set(pathParameters(operation.http.path));
  const properties = Object.entries(members(schema)).filter(([name]) => !inPath.has(name));
  if (properties.length === 0) return null;
  const required = requiredMembers(schema).filter((name) => !inPath.has(name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
    // A generated client must be able to send members that the gateway forwards.
    ...(asksProvider(operation) ? { additionalProperties: true } : {}),
  };
}

function requestBody(operation: AnyOperation, hoist: Hoist): JsonObject | null {
  const schema = bodySchema(operation, hoist);
  const type = bodyType(operation);
  if (schema === null || type === null) return null;
  const { input } = operation.example;
  const described = type === 'multipart/form-data' ? formSchema(schema, input ?? {}) : schema;
  const content = { schema: described, ...(input === undefined ? {} : { example: input }) };
  return { required: requiredMembers(schema).length > 0, content: { [type]: content } };
}

/** A command whose success is 200 lists it as an alternative there. */
function triedAnswer({ http }: AnyOperation, hoist: Hoist): JsonObject {
  const schema = jsonSchema(DryRun, hoist);
  const content = { 'application/json': { schema } };
  return http.status === 200 ? {} : { '200': { description: 'With `dryRun=true`: what it would do', content } };
}

const dryRunParameter: JsonObject = {
  name: 'dryRun',
  in: 'query',
  required: false,
  description:
    'With `true` nothing is changed: all checks and the decision are made on the resource as it is now, and the answer ' +
    'is 200 with a `DryRun`: the events that there would be, and the answer, without secrets.',
  schema: { type: 'boolean', default: false },
};

function success(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>, hoist: Hoist): JsonObject {
  const { output, example, kind, hasRevision, paged } = operation;
  const named = [
    'X-Request-Id',
    ...(hasRevision ? ['ETag'] : []),
    ...(isWriting(operation) ? ['Switchyard-Position', 'Idempotency-Replayed'] : []),
    ...(kind === 'command' || kind === 'query' ? ['Preference-Applied', 'Switchyard-Ignored'] : []),
    ...(kind === 'download' ? ['ETag', 'Content-Disposition', 'Accept-Ranges'] : []),
    ...(paged ? ['Link'] : []),
    ...(createdUnder(operation, operations) === null ? [] : ['Location']),
    ...(asksProvider(operation) ? [...servedBy, 'X-Switchyard-Cost'] : []),
  ];
  const links = linksOf(operation, operations);
  const answer = {
    description: operation.summary,
    headers: headersNamed(named),
    ...(Object.keys(links).length > 0 ? { links } : {}),
  };
  const others = (operation.produces ?? []).map((type) => [type, { schema: plainSchema(type) }] as const);
  if (output === null && others.length === 0) return answer;
  const content = output !== null && {
    schema: jsonSchema(output, hoist),
    ...(example.output === undefined ? {} : { example: example.output }),
  };
  return { ...answer, content: { ...(content && { 'application/json': content }), ...Object.fromEntries(others) } };
}

/** Content that is not JSON: text (also a stream of events) or bytes. */
function plainSchema(type: string): JsonObject {
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

const bytes: JsonObject = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };

const partialContent: JsonObject = {
  '206': {
    description: 'The part that Range requests',
    headers: { 'Content-Range': { $ref: '#/components/headers/Content-Range' } },
    content: bytes,
  },
  '304': { description: 'If-None-Match names the content as it is' },
};

const notModified: JsonObject = {
  description: 'If-None-Match names the resource as it is',
  headers: headersNamed(['X-Request-Id', 'ETag']),
};

/** Headers that name the target of a call. */
const servedBy = [
  'X-Switchyard-Target',
  'X-Switchyard-Attempts',
  'X-Switchyard-Ignored',
  'X-Switchyard-Provider-Request-Id',
];

function providerRefusal(operation: AnyOperation): JsonObject {
  return {
    description: 'A refusal by the provider, with its status and its body',
    headers: headersNamed(['X-Request-Id', ...servedBy]),
    content: { 'application/json': { schema: errorSchema(operation) } },
  };
}

const healthOperation: JsonObject = {
  operationId: 'get_health',
  summary: 'Whether the service is alive',
  description: 'Needs no key.',
  tags: ['Liveness'],
  security: [],
  responses: {
    '200': {
      description: 'It is',
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Health' },
          example: { status: 'ok', service: 'service-api', version: interfaceVersion },
        },
      },
    },
    '400': {
      description: 'The request cannot be read (`bad-request`)',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  },
};

const healthSchema: JsonObject = {
  type: 'object',
  properties: {
    status: { type: 'string', const: 'ok' },
    service: { type: 'string', const: 'service-api' },
    version: { type: 'string' },
  },
  required: ['status', 'service', 'version'],
  additionalProperties: false,
};

/**
 * Each field of a multipart body except a file has an example. The documentation page makes a form from it and ignores
 * the example of the whole body.
 * @param example of the body
 */
export function formSchema(schema: JsonObject, example: JsonObject): JsonObject {
  const properties = Object.entries(members(schema)).map(([name, field]) => {
    const value = example[name];
    return [name, value === undefined || isFile(field) ? field : { ...field, examples: [value] }];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function isFile({ format }: JsonObject): boolean {
  return format === 'binary';
}

/** The links of a created resource: every operation with its id in the path. */
export function linksOf(operation: AnyOperation, operations: ReadonlyArray<AnyOperation>): JsonObject {
  const place = createdUnder(operation, operations);
  if (place === null) return {};
  const id = `$response.body#/${createdId(operation)}`;
  const above = pathParameters(place).map((name) => [name, `$request.path.${name}`]);
  const links = operations.flatMap(({ name, summary, http }) => {
    const parameter = http.path.startsWith(`${place}:`)
      ? /^\w+/.exec(http.path.slice(place.length + 1))?.[0]
      : undefined;
    return parameter === undefined
      ? []
      : [
          [
            name,
            { operationId: name, parameters: { ...Object.fromEntries(above), [parameter]: id }, description: summary },
          ] as const,
        ];
  });
  return Object.fromEntries(links);
}

export const groupDescriptions: Readonly<Record<string, string>> = {
  Liveness: 'Whether the process answers.',
  Flows: 'What an agent does in a conversation. A flow belongs to a project.',
  'Flow versions': 'The numbered contents of a flow. One version is active.',
  'Phone numbers': 'Numbers of a project. Each may point at a flow.',
  'Agent profiles': 'Language, voice and reasoning of an agent, for the flows of a project.',
  Templates: 'Bundles of flows, a profile and stores, from which a partner creates instances.',
  'Template versions': 'The numbered contents of a template. Instances are created from a published version.',
  Instances: 'The resources that a template created in a project, with their upgrades.',
  Projects: 'The owners of resources. A project belongs to an organization.',
  Organizations: 'The tenants, only for the operator.',
  'Partner customers': 'The customer organizations of a partner.',
  'API keys': 'Keys, their scopes, rotation and revocation.',
  Files: 'Uploaded files, as in OpenAI’s API.',
  Batches: 'Many calls of the gateway in one file, as in OpenAI’s API.',
  Stores: 'Knowledge stores of a project.',
  Operations: 'Read models and processes, only for the operator.',
  Gateway: 'Chat, speech and transcription, as OpenAI has them.',
  Responses: 'Conversations that are stored here, as OpenAI has them.',
  Audit: 'Who changed what.',
  Webhooks: 'Endpoints that receive events.',
  Usage: 'The usage and the cost of gateway calls.',
  Dashboard: 'Figures for pages that show the state of the platform.',
};

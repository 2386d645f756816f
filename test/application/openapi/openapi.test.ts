import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as t from 'io-ts';
import { describe, it } from 'mocha';
import { bodySchema, openApiDocument } from '#application/openapi/openapi.ts';
import { createRoutes } from '#application/operations/registry.ts';
import { cuid } from '#domain/codecs/id.ts';
import { failure } from '#domain/shared/failure.ts';
import { inputErrors } from '#exchange/input-errors.ts';
import { gatewayError } from '#exchange/openai-error.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import { schemaOf } from '#shared/codecs/json-schema.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { usualLimits } from '#test/gateway/support/gateway-service.ts';
import { fakeOperations, widgetId } from '#test/http/support/fake-service.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';

/** Returns the value at a path of keys. */
function at(root: unknown, ...keys: ReadonlyArray<string | number>): unknown {
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);
}

/** Every description in a document. */
function descriptionsIn(value: unknown): ReadonlyArray<string> {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'description' && typeof member === 'string' ? [member] : descriptionsIn(member),
  );
}

const cuidPattern = schemaOf(cuid)?.pattern;

describe('openApiDocument of the service', () => {
  const operations = allOperations();

  it('says that callsRepresented of a call is deprecated and always 1', () => {
    const schemas = at(openApiDocument(operations, '0.5.0'), 'components', 'schemas');
    assert.deepEqual(at(schemas, 'RecordedCall', 'properties', 'callsRepresented'), {
      type: 'integer',
      const: 1,
      deprecated: true,
    });
    const required = at(schemas, 'RecordedCall', 'required') as ReadonlyArray<string>;
    assert.ok(required.includes('callsRepresented'));
  });

  it('makes a valid OpenAPI 3.1 document with every operation once', async () => {
    const document = JSON.parse(JSON.stringify(openApiDocument(operations, '0.5.0+a58340c'))) as Record<
      string,
      unknown
    >;
    const { valid, errors } = await new Validator().validate(document);
    assert.deepEqual([valid, errors], [true, undefined]);
    const names = Object.values(document.paths as Record<string, Record<string, JsonObject>>).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    );
    assert.deepEqual(names.toSorted(), [...operations.map(({ name }) => name), 'get_health'].toSorted());
  });

  const document = openApiDocument(operations, '0.5.0+a58340c');

  it('describes each resource once, under its name', () => {
    const answered = operations.flatMap(({ http, output }) => {
      const path = http.path.replaceAll(/:(\w+)/g, '{$1}');
      const content = at(document, 'paths', path, http.method, 'responses', http.status, 'content', 'application/json');
      return output === null ? [] : [JSON.stringify(at(content, 'schema'))];
    });
    assert.deepEqual(
      answered.filter((schema) => !schema.startsWith('{"$ref":"#/components/schemas/')),
      ['{"anyOf":[{"$ref":"#/components/schemas/FlowVersion"},{"type":"null"}]}'],
      'an answer without a name: give its codec a PascalCase one',
    );
    const flows = operations.filter(({ group }) => group === 'Flows').map(({ name }) => name);
    assert.ok(flows.length > 4);
    const flow = answered.filter((schema) => schema === '{"$ref":"#/components/schemas/Flow"}');
    assert.equal(flow.length, 4, 'create, read, update, change of tier');
  });

  it('names each enumeration, and gives it and each constant a type, so that generated clients have types for them', () => {
    const faults: string[] = [];
    const look = (value: unknown, path: string, depth: number): void => {
      if (typeof value !== 'object' || value === null) return;
      const isSchema =
        !Array.isArray(value) && ('enum' in value || ('const' in value && typeof value.const !== 'object'));
      if (isSchema && !('type' in value)) faults.push(`${path} has no type`);
      const isNamed = depth === 3 && path.startsWith('/components/schemas/');
      if (isSchema && 'enum' in value && Array.isArray(value.enum) && !isNamed) faults.push(`${path} has no name`);
      for (const [name, member] of Object.entries(value))
        if (name !== 'example' && name !== 'examples') look(member, `${path}/${name}`, depth + 1);
    };
    look(document, '', 0);
    assert.deepEqual(faults, []);
    const { schemas } = document.components as { schemas: Record<string, { enum?: ReadonlyArray<string> }> };
    assert.deepEqual(schemas.FlowType?.enum, ['simple', 'graph']);
  });

  it('describes each group of operations', () => {
    const tags = document.tags as ReadonlyArray<JsonObject>;
    assert.deepEqual(
      tags.filter(({ description }) => description === undefined),
      [],
    );
  });

  it('links what creates a resource to what takes its id', () => {
    const links = (path: string, status: number) => at(document, 'paths', path, 'post', 'responses', status, 'links');
    assert.deepEqual(at(links('/v1/projects/{projectId}/flows', 201), 'create_flow_version', 'parameters'), {
      flowId: '$response.body#/id',
    });
    assert.deepEqual(at(links('/v1/flows/{flowId}/versions', 201), 'activate_flow_version', 'parameters'), {
      versionId: '$response.body#/id',
    });
    assert.deepEqual(at(links('/v1/partner/customers', 201), 'get_customer', 'parameters'), {
      organizationId: '$response.body#/organizationId',
    });
    assert.deepEqual(at(links('/v1/stores', 200), 'get_store', 'parameters'), { store_id: '$response.body#/id' });
    assert.equal(links('/v1/flow-versions/{versionId}/activate', 200), undefined);
  });

  it('gives no header an example, which the documentation page would send', () => {
    const parameters = Object.values(document.paths as Record<string, Record<string, JsonObject>>)
      .flatMap((path) => Object.values(path))
      .flatMap((operation) => (operation.parameters ?? []) as ReadonlyArray<JsonObject>);
    const shown = parameters.filter(
      (each) => each.in === 'header' && /"(?:example|examples|default)":/.test(JSON.stringify(each)),
    );
    assert.deepEqual(shown, []);
  });

  it('writes angle brackets only where Markdown shows them', () => {
    const hidden = descriptionsIn(document).filter((text) => /<[a-z]/i.test(text.replaceAll(/`[^`]*`/g, '')));
    assert.deepEqual(hidden, []);
  });

  it('describes a flag of one operation in no other', () => {
    const text = JSON.stringify(document);
    assert.ok(text.split('Adds the diff of each changed flow').length <= 2, 'the description comes once');
  });

  it('gives each failure of an operation an example of its own', () => {
    const responses = at(document, 'paths', '/v1/flows/{flowId}', 'patch', 'responses');
    const named = at(responses, '422', 'content', 'application/problem+json', 'examples') as JsonObject;
    assert.deepEqual(named['invalid-input'], { $ref: '#/components/examples/invalid-input' });
    const missing = Object.values(document.paths as Record<string, Record<string, JsonObject>>)
      .flatMap((path) => Object.values(path))
      .flatMap((operation) => [...JSON.stringify(operation).matchAll(/#\/components\/examples\/([\w-]+)/g)])
      .map(([, name = '']) =>
        at(document, 'components', 'examples', name, 'value', /^(?:gateway|messages)-/.test(name) ? 'error' : 'code'),
      )
      .filter((value) => value === undefined);
    assert.deepEqual(missing, []);
  });

  for (const operation of operations)
    it(`gives examples of ${operation.name} that its own codecs accept`, () => {
      const { input, output } = operation.example;
      const wanted = bodySchema(operation) !== null;
      assert.equal(input !== undefined, wanted, 'an example of the body where there is one');
      const path = `/${operation.http.path.slice(1).replaceAll(/:([^/]+)/g, '{$1}')}`;
      const documented = at(document, 'paths', path, operation.http.method, 'parameters') as ReadonlyArray<JsonObject>;
      const idOf = (each: JsonObject) =>
        at(each, 'schema', 'pattern') === cuidPattern ? widgetId : at(each, 'schema', 'examples', 0);
      const required = documented
        .filter((each) => each.required === true)
        .map((each) => [String(each.name), idOf(each) ?? widgetId]);
      const parameters = Object.fromEntries(required);
      const decoded = operation.input.decode({ ...input, ...parameters });
      assert.deepEqual(decoded._tag === 'Left' ? inputErrors(decoded.left) : [], []);
      assert.equal(output !== undefined, operation.output !== null, 'an example of the answer where there is one');
      if (operation.output !== null) {
        const answer = operation.output.decode(output);
        assert.deepEqual(answer._tag === 'Left' ? inputErrors(answer.left) : [], []);
      }
    });
});

describe('openApiDocument of the gateway', () => {
  const document = openApiDocument(gatewayOperations(null, usualLimits), '0.5.0');
  const chat = at(document, 'paths', '/v1/chat/completions', 'post');
  const transcription = at(document, 'paths', '/v1/audio/transcriptions', 'post');

  it('allows clients to send members that the gateway passes on', () => {
    const schemas = [
      at(chat, 'requestBody', 'content', 'application/json', 'schema'),
      at(transcription, 'requestBody', 'content', 'multipart/form-data', 'schema'),
    ];
    schemas.push(at(schemas[0], 'properties', 'messages', 'items'));
    for (const schema of schemas) assert.equal(at(schema, 'additionalProperties'), true);
    assert.equal(at(schemas[0], 'properties', 'reasoning', 'enum'), undefined);
  });

  it('gives each field of a form but its file an example, which the documentation page fills in', () => {
    const fields = at(transcription, 'requestBody', 'content', 'multipart/form-data', 'schema', 'properties');
    const examples = Object.entries(fields as JsonObject).map(([name, field]) => [name, at(field, 'examples', 0)]);
    assert.deepEqual(Object.fromEntries(examples), {
      file: undefined,
      model: 'auto',
      language: 'en',
      response_format: 'json',
    });
  });

  it('describes event streams and binary responses', () => {
    const answered = (path: string) =>
      Object.entries(at(document, 'paths', path, 'post', 'responses', '200', 'content') as JsonObject).map(
        ([type, content]) => `${type} ${at(content, 'schema', 'type') ?? at(content, 'schema', '$ref')}`,
      );
    assert.deepEqual(answered('/v1/chat/completions'), [
      'application/json #/components/schemas/ChatCompletion',
      'text/event-stream string',
    ]);
    assert.deepEqual(answered('/v1/audio/speech'), ['audio/* string', 'text/event-stream string']);
    assert.deepEqual(Object.keys(at(document, 'components', 'schemas') as object).toSorted(), [
      'ChatCompletion',
      'DeletedResponse',
      'Embeddings',
      'ErrorObject',
      'GatewayError',
      'Health',
      'InputError',
      'ItemOrder',
      'MessageAnswer',
      'MessagesError',
      'Model',
      'ModelList',
      'Problem',
      'ProblemCode',
      'Response',
      'ResponseItemList',
      'TokenCount',
      'Transcription',
      'ValidationError',
    ]);
  });

  it('describes the places of faults as the gateway gives them: names of members, and numbers in lists', () => {
    const schema = { $ref: '#/components/schemas/GatewayError', components: at(document, 'components') };
    const isValid = new Ajv2020({ strict: false, logger: false }).compile(schema);
    const errors = [{ pointer: '/messages/0/role', message: 'is required' }];
    const body = gatewayError({ ...failure('invalid-input', 'It has a fault.'), errors }, 'body');
    assert.deepEqual(at(body, 'detail', 0, 'loc'), ['body', 'messages', 0, 'role']);
    assert.equal(isValid(body), true, JSON.stringify(isValid.errors));
    assert.equal(isValid(gatewayError(failure('malformed-json', 'It is no JSON.'), 'body')), true);
    for (const loc of ['body', [null], [0.5], [['body']]])
      assert.equal(isValid({ ...body, detail: [{ loc, msg: 'm', type: 't' }] }), false, JSON.stringify(loc));
  });

  it('describes failures of a multipart body without those of JSON', () => {
    assert.doesNotMatch(String(at(transcription, 'responses', '422', 'description')), /JSON/);
    assert.match(String(at(chat, 'responses', '422', 'description')), /malformed-json/);
    assert.doesNotMatch(String(at(transcription, 'responses', '415', 'description')), /json/);
  });

  it('describes refusals of a provider, and the target that served', () => {
    assert.ok(at(chat, 'responses', '4XX', 'content', 'application/json'));
    assert.ok(at(chat, 'responses', '200', 'headers', 'X-Switchyard-Target'));
    assert.equal(at(document, 'paths', '/v1/models', 'get', 'responses', '4XX'), undefined);
  });
});

describe('openApiDocument', () => {
  const document = openApiDocument(fakeOperations(), '0.5.0');
  const creation = at(document, 'paths', '/v1/projects/{projectId}/widgets', 'post') as JsonObject;

  it('makes a valid OpenAPI 3.1 document with the version of the package', async () => {
    const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
    const { valid, errors } = await new Validator().validate(copy);
    assert.deepEqual([valid, errors], [true, undefined]);
    assert.equal(at(document, 'info', 'version'), '0.2.0');
  });

  it('accepts both ways to present a key, and requires none for /healthz', () => {
    assert.deepEqual(document.security, [{ bearer: [] }, { apiKey: [] }]);
    assert.deepEqual(at(document, 'paths', '/healthz', 'get', 'security'), []);
  });

  it('splits the input into path, query and body', () => {
    const names = (operation: unknown) =>
      (at(operation, 'parameters') as ReadonlyArray<JsonObject>).map(
        (parameter) => `${parameter.in} ${parameter.name}`,
      );
    assert.deepEqual(names(creation), [
      'path projectId',
      'query dryRun',
      'header Idempotency-Key',
      'header If-Match',
      'header Switchyard-On-Behalf-Of',
      'header Prefer',
    ]);
    assert.deepEqual(names(at(document, 'paths', '/v1/projects/{projectId}/widgets', 'get')), [
      'path projectId',
      'query limit',
      'query cursor',
      'query tag',
      'header Switchyard-Min-Position',
      'header Prefer',
    ]);
    const schema = at(creation, 'requestBody', 'content', 'application/json', 'schema') as JsonObject;
    assert.deepEqual(schema.required, ['name', 'shape']);
    assert.equal(at(schema, 'properties', 'name', 'maxLength'), 20);
    assert.equal(at(schema, 'properties', 'finish', 'default'), 'matt');
    assert.equal(at(schema, 'properties', 'projectId'), undefined);
    assert.equal(at(document, 'paths', '/v1/widgets/{widgetId}/activate', 'post', 'requestBody'), undefined);
  });

  it('lists the response with its headers, and every failure in the form of its plane', () => {
    assert.deepEqual(Object.keys(creation.responses as object), [
      '200',
      '201',
      '400',
      '401',
      '403',
      '404',
      '408',
      '409',
      '412',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    assert.deepEqual(Object.keys(at(creation, 'responses', '201', 'headers') as object), [
      'X-Request-Id',
      'ETag',
      'Switchyard-Position',
      'Idempotency-Replayed',
      'Preference-Applied',
      'Switchyard-Ignored',
      'Location',
    ]);
    assert.match(String(at(creation, 'responses', '404', 'description')), /project-not-found/);
    assert.ok(at(creation, 'responses', '422', 'content', 'application/problem+json'));
    const chat = at(document, 'paths', '/v1/chat/completions', 'post');
    assert.equal(
      at(chat, 'responses', '422', 'content', 'application/json', 'schema', '$ref'),
      '#/components/schemas/GatewayError',
    );
  });

  it('defines each named schema once', () => {
    assert.deepEqual(at(creation, 'responses', '201', 'content', 'application/json', 'schema'), {
      $ref: '#/components/schemas/Widget',
    });
    assert.equal(at(document, 'components', 'schemas', 'Widget', 'type'), 'object');
  });
});

describe('createRoutes', () => {
  const operations = fakeOperations();

  it('finds the path under which a created resource can be read', () => {
    const routes = new Map(createRoutes(operations).map((route) => [route.operation.name, route]));
    assert.equal(routes.get('create_widget')?.createdUnder, '/v1/widgets/');
    assert.equal(routes.get('activate_widget')?.createdUnder, null);
    assert.deepEqual(
      routes.get('break_widget')?.idParameters.map(({ name }) => name),
      ['widgetId'],
    );
  });

  it('finds the read path of a resource that is created under another', () => {
    const [read, , create] = operations;
    assert.ok(read !== undefined && create !== undefined);
    const versions = createRoutes([
      { ...create, http: { method: 'post', path: '/v1/widgets/:projectId/versions', status: 201 } },
      { ...read, http: { method: 'get', path: '/v1/widget-versions/:widgetId', status: 200 } },
      { ...read, http: { method: 'get', path: '/v1/widgets/:widgetId/versions', status: 200 } },
    ]);
    assert.equal(versions[0]?.createdUnder, '/v1/widget-versions/');
  });

  it('finds the read path of what a POST with status 200 creates in its own collection', () => {
    const [read, , create] = operations;
    assert.ok(read !== undefined && create !== undefined);
    const ofBox = { ...read, input: t.type({ projectId: t.string, widgetId: t.string }) } as typeof read;
    const [made, added, activated] = createRoutes([
      { ...create, http: { method: 'post', path: '/v1/boxes/:projectId/widgets', status: 200 } },
      { ...create, http: { method: 'post', path: '/v1/widgets', status: 200 } },
      { ...create, http: { method: 'post', path: '/v1/widgets/:projectId/activate', status: 200 } },
      { ...ofBox, http: { method: 'get', path: '/v1/boxes/:projectId/widgets/:widgetId', status: 200 } },
      { ...read, http: { method: 'get', path: '/v1/widgets/:widgetId', status: 200 } },
    ]).map(({ createdUnder }) => createdUnder);
    assert.deepEqual([made, added, activated], ['/v1/boxes/:projectId/widgets/', '/v1/widgets/', null]);
  });

  it('throws for two equal routes, and for a parameter that is not a member of the input', () => {
    const [read] = operations;
    assert.ok(read !== undefined);
    const other = { ...read, name: 'other', http: { ...read.http, path: '/v1/widgets/:id' } };
    assert.throws(() => createRoutes([read, other]), /Two operations answer get \/v1\/widgets\/:id/);
    assert.throws(() => createRoutes([other]), /"id" is not a member of its input/);
  });
});

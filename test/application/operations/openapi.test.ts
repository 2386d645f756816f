import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, it } from 'mocha';
import { type CommandDependencies, commandOperation } from '#application/commands/command-handler.ts';
import { inputErrors } from '#application/operations/input-errors.ts';
import { bodySchema, openApiDocument } from '#application/operations/openapi.ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { createRoutes } from '#application/operations/registry.ts';
import { type QueryDependencies, queryOperation } from '#application/queries/query-handler.ts';
import { commands } from '#commands/table.ts';
import { gatewayOperations } from '#gateway/operations.ts';
import { queries } from '#queries/table.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { usualLimits } from '#test/gateway/support/gateway-service.ts';
import { fakeOperations, widgetId } from '#test/http/support/fake-service.ts';

/** What stands at a path of keys. */
function at(root: unknown, ...keys: ReadonlyArray<string | number>): unknown {
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);
}

/** Every operation there is, described but not to be executed: nothing stands behind them. */
function allOperations(): ReadonlyArray<AnyOperation> {
  return [
    ...commands.map((command) => commandOperation(command, {} as CommandDependencies)),
    ...queries.map((query) => queryOperation(query, {} as QueryDependencies)),
    ...gatewayOperations(null, usualLimits),
  ];
}

describe('OpenAPI document of the service', () => {
  const operations = allOperations();

  it('is valid OpenAPI 3.1, with every operation once', async () => {
    const document = JSON.parse(JSON.stringify(openApiDocument(operations))) as Record<string, unknown>;
    const { valid, errors } = await new Validator().validate(document);
    assert.deepEqual([valid, errors], [true, undefined]);
    const names = Object.values(document.paths as Record<string, Record<string, JsonObject>>).flatMap((path) =>
      Object.values(path).map((operation) => operation.operationId),
    );
    assert.deepEqual(names.toSorted(), [...operations.map(({ name }) => name), 'get_health'].toSorted());
  });

  const document = openApiDocument(operations);
  for (const operation of operations)
    it(`holds examples of ${operation.name} that it would take and give`, () => {
      const { input, output } = operation.example;
      const wanted = bodySchema(operation) !== null;
      assert.equal(input !== undefined, wanted, 'an example of the body where there is one');
      const path = `/${operation.http.path.slice(1).replaceAll(/:([^/]+)/g, '{$1}')}`;
      const told = at(document, 'paths', path, operation.http.method, 'parameters') as ReadonlyArray<JsonObject>;
      const required = told.filter((each) => each.required === true).map(({ name }) => [String(name), widgetId]);
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

describe('OpenAPI document of the gateway', () => {
  const document = openApiDocument(gatewayOperations(null, usualLimits));
  const chat = at(document, 'paths', '/v1/chat/completions', 'post');
  const transcription = at(document, 'paths', '/v1/audio/transcriptions', 'post');

  it('lets whoever makes a client of it send what is passed on', () => {
    const schemas = [
      at(chat, 'requestBody', 'content', 'application/json', 'schema'),
      at(transcription, 'requestBody', 'content', 'multipart/form-data', 'schema'),
    ];
    schemas.push(at(schemas[0], 'properties', 'messages', 'items'));
    for (const schema of schemas) assert.equal(at(schema, 'additionalProperties'), true);
    assert.equal(at(schemas[0], 'properties', 'reasoning', 'enum'), undefined);
  });

  it('tells what streams are, and bytes', () => {
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
      'GatewayError',
      'Model',
      'Problem',
      'Transcription',
    ]);
  });

  it('tells a multipart body’s failures and not those of JSON', () => {
    assert.doesNotMatch(String(at(transcription, 'responses', '422', 'description')), /JSON/);
    assert.match(String(at(chat, 'responses', '422', 'description')), /malformed-json/);
    assert.doesNotMatch(String(at(transcription, 'responses', '415', 'description')), /json/);
  });

  it('tells that a provider may refuse, and who served', () => {
    assert.ok(at(chat, 'responses', '4XX', 'content', 'application/json'));
    assert.ok(at(chat, 'responses', '200', 'headers', 'X-Switchyard-Target'));
    assert.equal(at(document, 'paths', '/v1/models', 'get', 'responses', '4XX'), undefined);
  });
});

describe('OpenAPI document', () => {
  const document = openApiDocument(fakeOperations());
  const creation = at(document, 'paths', '/v1/projects/{projectId}/widgets', 'post') as JsonObject;

  it('is valid OpenAPI 3.1', async () => {
    const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
    const { valid, errors } = await new Validator().validate(copy);
    assert.deepEqual([valid, errors], [true, undefined]);
    assert.equal(at(document, 'info', 'version'), '0.2.0');
  });

  it('takes both ways to present a key, and none for /healthz', () => {
    assert.deepEqual(document.security, [{ bearer: [] }, { apiKey: [] }]);
    assert.deepEqual(at(document, 'paths', '/healthz', 'get', 'security'), []);
  });

  it('splits the input into path, query and body', () => {
    const names = (operation: unknown) =>
      (at(operation, 'parameters') as ReadonlyArray<JsonObject>).map(
        (parameter) => `${parameter.in} ${parameter.name}`,
      );
    assert.deepEqual(names(creation), ['path projectId', 'header Idempotency-Key', 'header If-Match']);
    assert.deepEqual(names(at(document, 'paths', '/v1/projects/{projectId}/widgets', 'get')), [
      'path projectId',
      'query limit',
      'query cursor',
      'query tag',
      'header Switchyard-Min-Position',
    ]);
    const schema = at(creation, 'requestBody', 'content', 'application/json', 'schema') as JsonObject;
    assert.deepEqual(schema.required, ['name', 'shape']);
    assert.equal(at(schema, 'properties', 'name', 'maxLength'), 20);
    assert.equal(at(schema, 'properties', 'finish', 'default'), 'matt');
    assert.equal(at(schema, 'properties', 'projectId'), undefined);
    assert.equal(at(document, 'paths', '/v1/widgets/{widgetId}/activate', 'post', 'requestBody'), undefined);
  });

  it('lists the answer with its headers, and every failure in the shape of its plane', () => {
    assert.deepEqual(Object.keys(creation.responses as object), [
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

  it('names schemas once', () => {
    assert.deepEqual(at(creation, 'responses', '201', 'content', 'application/json', 'schema'), {
      $ref: '#/components/schemas/Widget',
    });
    assert.equal(at(document, 'components', 'schemas', 'Widget', 'type'), 'object');
  });
});

describe('routes', () => {
  const operations = fakeOperations();

  it('know where what is created can be read', () => {
    const routes = new Map(createRoutes(operations).map((route) => [route.operation.name, route]));
    assert.equal(routes.get('create_widget')?.createdUnder, '/v1/widgets/');
    assert.equal(routes.get('activate_widget')?.createdUnder, null);
    assert.deepEqual(routes.get('break_widget')?.idParameters, ['widgetId']);
  });

  it('find the place of what belongs to something', () => {
    const [read, , create] = operations;
    assert.ok(read !== undefined && create !== undefined);
    const versions = createRoutes([
      { ...create, http: { method: 'post', path: '/v1/widgets/:projectId/versions', status: 201 } },
      { ...read, http: { method: 'get', path: '/v1/widget-versions/:widgetId', status: 200 } },
      { ...read, http: { method: 'get', path: '/v1/widgets/:widgetId/versions', status: 200 } },
    ]);
    assert.equal(versions[0]?.createdUnder, '/v1/widget-versions/');
  });

  it('are refused when two are alike, or a parameter is no member of the input', () => {
    const [read] = operations;
    assert.ok(read !== undefined);
    const other = { ...read, name: 'other', http: { ...read.http, path: '/v1/widgets/:id' } };
    assert.throws(() => createRoutes([read, other]), /Two operations answer get \/v1\/widgets\/:id/);
    assert.throws(() => createRoutes([other]), /"id" is no member of its input/);
  });
});

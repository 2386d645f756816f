import assert from 'node:assert/strict';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import * as t from 'io-ts';
import { jsonSchema, members, requiredMembers } from '#application/operations/json-schema.ts';
import { type AnyOperation, effectOf } from '#application/operations/operation.ts';
import { createRoutes } from '#application/operations/registry.ts';
import { createToolCatalogue, hasTool } from '#mcp/tools/tool-catalogue.ts';
import { isAnswerObject } from '#mcp/tools/tool-schema.ts';
import type { Json } from '#shared/json/json.ts';
import { catalogue, operations } from './support/operation-tools.ts';

const named = (name: string) => {
  const found = catalogue.find(({ tool }) => tool.name === name);
  assert.ok(found, `no tool ${name}`);
  return found;
};

describe('the tools of MCP', function () {
  this.timeout(60_000);

  it('are the commands and queries of the operations table, except those of files and batches', () => {
    const wanted = operations.filter(({ scope }) => !/^(?:files|batches|gateway):/.test(scope ?? ''));
    assert.deepEqual(
      catalogue.map(({ tool }) => tool.name),
      wanted.map(({ name }) => name),
    );
    assert.ok(catalogue.length > 70);
  });

  it('include only commands and queries', () => {
    for (const kind of ['streaming', 'upload', 'download']) {
      assert.equal(hasTool({ kind, scope: 'flows:read' } as unknown as AnyOperation), false);
    }
  });

  it('take the members of the operation’s input, with the same required members', () => {
    for (const { tool, route } of catalogue) {
      const schema = jsonSchema(route.operation.input);
      const given = Object.keys(tool.inputSchema.properties ?? {});
      assert.deepEqual(given.slice(0, Object.keys(members(schema)).length), Object.keys(members(schema)), tool.name);
      assert.deepEqual(tool.inputSchema.required ?? [], requiredMembers(schema), tool.name);
    }
  });

  it('take dryRun, idempotencyKey and ifMatch only when they write', () => {
    for (const { tool, route } of catalogue) {
      const given = Object.keys(tool.inputSchema.properties ?? {});
      const writes = route.operation.kind === 'command';
      for (const name of ['dryRun', 'idempotencyKey', 'ifMatch']) assert.equal(given.includes(name), writes, tool.name);
    }
  });

  it('have a title, a description and schemas of objects', () => {
    for (const { tool } of catalogue) {
      assert.match(tool.title ?? '', /^[A-Z][a-zA-Z ]+$/, tool.name);
      assert.ok((tool.description ?? '').length > 20, tool.name);
      assert.equal(tool.inputSchema.type, 'object');
      assert.equal(tool.outputSchema?.type, 'object');
    }
  });

  it('say in their descriptions which scopes they need', () => {
    for (const { tool, route } of catalogue) {
      const { scope, alsoScope } = route.operation;
      const needed =
        alsoScope === undefined ? `Needs the scope ${scope}.` : `Needs the scopes ${scope} and ${alsoScope}.`;
      const sentence = scope === null ? 'Any valid key may do this.' : needed;
      assert.ok(tool.description?.endsWith(sentence), `${tool.name}: ${tool.description}`);
    }
    const both = { ...named('create_flow').route.operation, alsoScope: 'gateway:write' } as AnyOperation;
    const [tool] = createToolCatalogue(createRoutes([both]));
    assert.ok(tool?.tool.description?.endsWith('Needs the scopes flows:write and gateway:write.'));
  });

  it('have an output schema that accepts every example of an answer, and nothing else', () => {
    const validator = new AjvJsonSchemaValidator();
    for (const { tool, route } of catalogue) {
      const { operation } = route;
      const validate = validator.getValidator(tool.outputSchema as never);
      const output: Json = operation.example.output ?? null;
      const content = isAnswerObject(operation) ? output : { result: output };
      const validated = validate(content);
      assert.ok(validated.valid, `${tool.name}: ${validated.errorMessage}`);
      assert.equal(validate('text').valid, false, tool.name);
    }
  });

  it('declare queries as read-only, and commands as writing', () => {
    for (const { tool, route } of catalogue) {
      assert.equal(tool.annotations?.readOnlyHint, route.operation.kind === 'query', tool.name);
      assert.equal(tool.annotations?.openWorldHint, false, tool.name);
    }
  });

  it('declare exactly the destructive operations as destructive', () => {
    const destructive = catalogue.filter(({ tool }) => tool.annotations?.destructiveHint === true);
    assert.deepEqual(destructive.map(({ tool }) => tool.name).sort(), [
      'archive_template',
      'delete_agent_profile',
      'delete_flow',
      'delete_flow_version',
      'delete_instance',
      'delete_phone_number',
      'delete_store',
      'delete_webhook_endpoint',
      'end_api_key_secrets',
      'erase_personal_data',
      'remove_store_file',
      'revoke_api_key',
      'rotate_api_key',
      'rotate_webhook_secret',
      'skip_event',
      'skip_process_event',
      'skip_projection_event',
      'upgrade_instance',
    ]);
  });

  it('declare exactly the repeatable commands as idempotent', () => {
    const once = catalogue.filter(({ tool }) => tool.annotations?.idempotentHint === false);
    assert.deepEqual(
      once.map(({ tool }) => tool.name).filter((name) => !/^(?:create|restore)_/.test(name)),
      [
        'upgrade_instance',
        'retry_instance',
        'rotate_api_key',
        'rotate_webhook_secret',
        'test_webhook_endpoint',
        'replay_webhook_endpoint',
        'rebuild_projection',
        'retry_projection',
        'skip_projection_event',
        'retry_process',
        'skip_process_event',
        'skip_event',
      ],
    );
    for (const { tool } of once) assert.equal(tool.annotations?.readOnlyHint, false);
  });

  it('take the declared effect of an operation before the effect that its method implies', () => {
    assert.deepEqual(effectOf(named('activate_flow_version').route.operation), {
      isReadOnly: false,
      isDestructive: false,
      isIdempotent: true,
    });
    assert.deepEqual(effectOf(named('delete_flow').route.operation), {
      isReadOnly: false,
      isDestructive: true,
      isIdempotent: true,
    });
  });

  it('cannot be made of an operation whose input has the name of a common argument', () => {
    const [operation] = operations.filter(({ name }) => name === 'create_template');
    assert.ok(operation);
    const clashing = { ...operation, input: t.type({ ifMatch: t.string }) };
    assert.throws(() => createToolCatalogue(createRoutes([clashing])), /create_template: "ifMatch" is the name/);
  });
});

import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { Held } from '#exchange/held.ts';
import type { AskOperation } from '#mcp/request/ask-operation.ts';
import type { McpRequest } from '#mcp/request/mcp-request.ts';
import { completeArgument } from '#mcp/resources/complete-argument.ts';
import { callerOf, ids } from '#test/support/events/tenants.ts';
import { requestOf } from '#test/support/harness/request-of.ts';
import { catalogue } from './support/operation-tools.ts';

const versions = { path: '/v1/flow-versions/:versionId', parameter: 'versionId', typed: '', known: {} };

/** Answers each list with this many items, whose ids name the parent. */
class Lists {
  /** The lists that were read, in order. */
  readonly read: string[] = [];
  readonly held = new Held(ids.project);
  readonly #items: number;

  constructor(items: number) {
    this.#items = items;
  }

  readonly ask: AskOperation = async (_, { operation }, given) => {
    const parent = Object.values(given)[0] ?? '';
    this.read.push(`${operation.name} ${parent}`.trim());
    const items = Array.from({ length: this.#items }, (__, index) => ({ id: `${parent}${index}`, name: '' }));
    return E.right({ status: 200, body: { items } });
  };

  complete(request = versions) {
    const filter = { readOnly: false, resources: null };
    const mcpRequest: McpRequest = {
      request: requestOf({ caller: callerOf('organization'), held: this.held }),
      filter,
      wantsWholeText: false,
      toolArguments: {},
      inputFault: null,
    };
    return completeArgument(this.ask, mcpRequest, catalogue, request);
  }
}

describe('completeArgument', () => {
  it('reads at most ten lists, those of the caller’s project first', async () => {
    const lists = new Lists(50);
    const { values } = await lists.complete();
    assert.equal(lists.read.length, 10);
    assert.deepEqual(lists.read.slice(0, 2), [`list_flows ${ids.project}`, `list_flow_versions ${ids.project}0`]);
    assert.equal(values.length, 100);
  });

  it('looks in other projects when its own has few flows', async () => {
    const lists = new Lists(2);
    await lists.complete();
    assert.ok(lists.read.includes('list_projects'), lists.read.join());
    assert.ok(lists.read.length <= 10);
  });

  it('reads the list of a parent that is known alone', async () => {
    const lists = new Lists(2);
    await lists.complete({ ...versions, known: { flowId: 'cflow' } });
    assert.deepEqual(lists.read, ['list_flow_versions cflow']);
  });

  it('reads no list once its client has left', async () => {
    const lists = new Lists(2);
    lists.held.leave();
    assert.deepEqual(await lists.complete(), { values: [], hasMore: false });
    assert.deepEqual(lists.read, []);
  });
});

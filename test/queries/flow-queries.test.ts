import assert from 'node:assert/strict';
import { getFlow } from '#queries/flow/get-flow.ts';
import { listFlows } from '#queries/flow/list-flows.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';

const project = { [`project-${ids.project}`]: [projectCreated(ids.project, ids.partner)] };
const one = { [`flow-${ids.flow}`]: begunFlow() };
const other = { [`flow-${ids.otherFlow}`]: begunFlow({ id: ids.otherFlow, name: 'Nights' }) };

const idsOf = (body: unknown) => (body as { flows: ReadonlyArray<{ id: string }> }).flows.map(({ id }) => id);

describe('flow queries', () => {
  it('answers a flow as its events describe it', async () => {
    const { body } = await givenLog({ ...project, ...one }).ask(getFlow, { flowId: ids.flow });
    assert.deepEqual(body, {
      id: ids.flow,
      projectId: ids.project,
      name: 'Opening hours',
      type: 'simple',
      description: 'Answers when the desk is closed',
      tier: 'standard',
      agentProfileId: null,
      createdAt: '2026-01-05T09:30:00.000Z',
      updatedAt: '2026-01-05T09:30:00.000Z',
    });
  });

  it('refuses a deleted flow, an unknown flow and a flow of another tenant with the same code', async () => {
    const log = givenLog({ ...project, [`flow-${ids.flow}`]: [...begunFlow(), flowDeleted()], ...other });
    const stranger = callerOf('project', tenants.stranger);
    assert.equal((await log.ask(getFlow, { flowId: ids.flow })).refusal, 'flow-not-found');
    assert.equal((await log.ask(getFlow, { flowId: 'cnothing0was0ever0here00' })).refusal, 'flow-not-found');
    assert.equal((await log.ask(getFlow, { flowId: ids.otherFlow }, stranger)).refusal, 'flow-not-found');
  });

  it('refuses a key without the scope with scope-required only where it can access the flow', async () => {
    const log = givenLog({ ...project, ...one });
    const scopeless = callerOf('project', { scopes: ['keys:read'] });
    assert.equal((await log.ask(getFlow, { flowId: ids.flow }, scopeless)).refusal, 'scope-required');
    assert.equal((await log.ask(getFlow, { flowId: ids.otherFlow }, scopeless)).refusal, 'flow-not-found');
  });

  it('lists the flows of a project in the order of their creation, page by page', async () => {
    const log = givenLog({ ...project, ...other, ...one });
    const whole = await log.ask(listFlows, { projectId: ids.project });
    assert.deepEqual([idsOf(whole.body), whole.nextCursor], [[ids.otherFlow, ids.flow], null]);
    const first = await log.ask(listFlows, { projectId: ids.project, limit: '1' });
    assert.deepEqual(idsOf(first.body), [ids.otherFlow]);
    assert.ok(first.nextCursor !== null);
    const second = await log.ask(listFlows, { projectId: ids.project, limit: '1', cursor: first.nextCursor });
    assert.deepEqual([idsOf(second.body), second.nextCursor], [[ids.flow], null]);
  });
});

import { flow } from '#domain/flow/flow.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import type { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

/** States of flows that no agent profile of the project may use, each with its fault. */
export const foreignFlows = [
  ['unknown', null],
  ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
  ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
] as const;

/** Tests the members that creating and replacing an agent profile share. */
export function testContents(of: ReturnType<typeof inputOf>): void {
  for (const member of ['name', 'reasoningMode', 'outputVoiceId']) {
    of.required(member);
    of.anyText(member);
  }
  for (const member of ['flowIds', 'supportedInputLanguages']) {
    of.required(member);
    for (const value of [[], ['a'], ['a', 'a']]) of.accepts(member, value);
    for (const value of [null, 'a', {}, [1], [null]]) of.refuses(member, value);
  }
  of.required('isDefault');
  of.boolean('isDefault');
  of.ignoresUnknown();
}

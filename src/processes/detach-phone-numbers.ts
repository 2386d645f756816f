import * as E from 'fp-ts/lib/Either.js';
import type { FlowEvents } from '#domain/flow/events.ts';
import { flow } from '#domain/flow/flow.ts';
import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import type { RecordedEventOf } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';
import type { Process, ProcessTools } from '#process-engine/process.ts';
import { paginateAll } from '#read-store/paginate-all.ts';

type Event = RecordedEventOf<
  Pick<FlowEvents, 'FlowDeleted'> & Pick<PhoneNumberEvents, 'PhoneNumberCreated' | 'PhoneNumberFlowSet'>
>;

/**
 * Detaches the phone numbers of deleted flows. A number may be attached while its flow is being deleted. The reaction
 * to the deletion finds numbers that were attached before it. The reaction to a later attachment finds that the flow
 * is deleted.
 */
export const detachPhoneNumbers: Process = {
  name: 'detach-phone-numbers',
  types: ['FlowDeleted', 'PhoneNumberCreated', 'PhoneNumberFlowSet'],
  handles: (event) => event.type === 'FlowDeleted' || event.data.flowId !== null,
  remembers: ['FlowDeleted'],
  handle: async (recorded, tools) => {
    const event = recorded as unknown as Event;
    if (event.type === 'FlowDeleted') return detachAll(event.data.id, tools);
    const { id, flowId } = event.data;
    if (flowId === null) return;
    if (tools.hasMet(flow, flowId) ?? (await isGone(flowId, tools))) await detach(id, flowId, tools);
  },
};

/** Whether a flow is deleted. If it is deleted after this read, the reaction to its deletion finds the number. */
async function isGone(flowId: string, tools: ProcessTools): Promise<boolean> {
  const { state } = await tools.load(flow, flowId);
  return state === null || state.deleted;
}

async function detachAll(flowId: string, tools: ProcessTools): Promise<void> {
  const documents = await tools.documentsUpToDate('phone-numbers');
  for await (const page of paginateAll(documents, 'phone-numbers', { flowId })) {
    for (const { id } of page) await detach(id, flowId, tools);
  }
}

function detach(id: string, flowId: string, { write }: ProcessTools): Promise<void> {
  return write({
    entity: phoneNumber,
    id,
    decide: ({ state }) => {
      const attached = phoneNumber.isLive(state, id) && state !== 'abandoned' && state?.record.flowId === flowId;
      const reason = 'flow-deleted' as const;
      return E.right({
        events: attached ? [newEvent('PhoneNumberFlowSet', { id, flowId: null, reason })] : [],
        tenant: null,
      });
    },
  });
}

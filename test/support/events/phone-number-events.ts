import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { ids } from './tenants.ts';

export const phoneNumberCreated = (change: Partial<PhoneNumberEvents['PhoneNumberCreated']> = {}) =>
  newEvent('PhoneNumberCreated', {
    id: ids.number,
    projectId: ids.project,
    type: 'platform' as const,
    name: 'Reception',
    number: '+44 20 7183 8750',
    status: 'disabled' as const,
    flowId: null,
    externalPhoneFields: null,
    ...change,
  } satisfies PhoneNumberEvents['PhoneNumberCreated']);

export const phoneNumberFlowSet = (
  flowId: string | null,
  reason: 'requested' | 'flow-deleted' = 'requested',
  id: string = ids.number,
) => newEvent('PhoneNumberFlowSet', { id, flowId, reason });

export const phoneNumberDeleted = (id: string = ids.number) => newEvent('PhoneNumberDeleted', { id });

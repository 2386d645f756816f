import { cuid } from '#domain/codecs/id.ts';
import { instant } from '#domain/codecs/time.ts';
import { wholeNumber } from '#shared/codecs/number.ts';
import { textThat } from '#shared/codecs/text.ts';
import { UsageInterval } from './gateway-answer.ts';

/** Maximum of `days` for `/v1/dashboard/activity`, `flows` and `instances`, today included. */
const maxDays = 90;

/** The filters of every panel: one organization or project that the key has access to; otherwise 404. */
export const tenantFilters = {
  organizationId: cuid,
  projectId: cuid,
};

/** `days`: 1 to 90; default 30, for instances 7. */
export const dayRange = { days: wholeNumber(1, maxDays) };

const name = textThat('name', (value) => (value.length > 500 ? 'must be at most 500 characters' : null), {
  maxLength: 500,
});

/** Defaults: the last 24 hours, and an interval that fits the length. */
export const gatewayInput = {
  ...tenantFilters,
  from: instant,
  until: instant,
  interval: UsageInterval,
  model: name,
  /** The id of an API key. */
  keyId: cuid,
};

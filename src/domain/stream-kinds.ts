import { keyCutoff } from '#domain/api-key/api-key.ts';
import { projectAgentProfiles } from './agent-profile/agent-profile.ts';
import { apiKey } from './api-key/api-key.ts';
import { batch } from './batch/batch.ts';
import { file } from './file/file.ts';
import { flow } from './flow/flow.ts';
import { instance } from './instance/instance.ts';
import { eventControl } from './operator/event-control.ts';
import { processControl } from './operator/process-control.ts';
import { projectionControl } from './operator/projection-control.ts';
import { organization } from './organization/organization.ts';
import { phoneNumber, phoneNumberClaim } from './phone-number/phone-number.ts';
import { project } from './project/project.ts';
import { store } from './store/store.ts';
import { template } from './template/template.ts';
import { webhookEndpoint } from './webhook-endpoint/webhook-endpoint.ts';

/** Streams of usage are `usage-{date}-{node}`; they belong to no entity. */
export const usageStreamKind = 'usage';

/** Streams of days whose usage is closed are `usageDay-{date}`; they belong to no entity either. */
export const usageDayStreamKind = 'usageDay';

/** The part of this service's stream names before the first hyphen. */
export const streamKinds: ReadonlyArray<string> = [
  ...[
    projectAgentProfiles,
    apiKey,
    batch,
    eventControl,
    file,
    flow,
    instance,
    keyCutoff,
    organization,
    phoneNumber,
    phoneNumberClaim,
    processControl,
    project,
    projectionControl,
    store,
    template,
    webhookEndpoint,
  ].map(({ category }) => category),
  usageStreamKind,
  usageDayStreamKind,
];

/** The kinds of streams that retention shortens on purpose, so that they may begin above revision 0. */
const shortenedStreamKinds: ReadonlySet<string> = new Set([usageStreamKind]);

/** The event types that are in streams of these kinds alone. */
export const shortenedEventTypes: ReadonlyArray<string> = ['UsageRecorded'];

/** Whether a stream may lack its first events, because retention shortens streams of its kind on purpose. */
export function isShortenedOnPurpose(stream: string): boolean {
  return shortenedStreamKinds.has(stream.slice(0, stream.indexOf('-')));
}

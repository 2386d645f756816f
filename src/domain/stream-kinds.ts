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

/** `usage-{date}-{node}`; these streams belong to no entity. */
export const usageStreamKind = 'usage';

/** `usageDay-{date}`; these streams belong to no entity either. */
export const usageDayStreamKind = 'usageDay';

/** The text before the first hyphen of a stream's name. */
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

/** Retention shortens these streams on purpose, so they may begin above revision 0. */
const shortenedStreamKinds: ReadonlySet<string> = new Set([usageStreamKind]);

/** Types of events that are in streams of these kinds alone. */
export const shortenedEventTypes: ReadonlyArray<string> = ['UsageRecorded'];

/** The stream may lack its first events, because retention shortens streams of its kind on purpose. */
export function isShortenedOnPurpose(stream: string): boolean {
  return shortenedStreamKinds.has(stream.slice(0, stream.indexOf('-')));
}

import { withDescendantsOfKey, withMakerOfKey, withRotatorOfKey } from '#domain/api-key/old-shapes.ts';
import { withAudio } from '#domain/usage/with-audio.ts';
import { withTenant } from '#domain/usage/with-tenant.ts';

/**
 * How old events are brought to their newest shape when read: by event type, the steps from schema version n (at index
 * n - 1) to n + 1. A frozen fixture of every shape ever written stays in `test/fixtures/events`.
 */
export const upcasters: Readonly<Record<string, ReadonlyArray<(data: object) => object>>> = {
  ApiKeyCreated: [withMakerOfKey],
  ApiKeyRotated: [withRotatorOfKey],
  ApiKeyRevoked: [withDescendantsOfKey],
  UsageRecorded: [withAudio, withTenant],
};

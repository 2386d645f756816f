import { withDescendantsOfKey, withMakerOfKey, withRotatorOfKey } from '#domain/api-key/old-shapes.ts';
import { withAudio, withTenant, withTokenParts } from '#domain/usage/old-shapes.ts';

/**
 * The steps of each event type: the step at index n - 1 leads from schema version n to n + 1. A frozen fixture of every
 * shape ever written stays in `test/fixtures/events`.
 */
export const upcasters: Readonly<Record<string, ReadonlyArray<(data: object) => object>>> = {
  ApiKeyCreated: [withMakerOfKey],
  ApiKeyRotated: [withRotatorOfKey],
  ApiKeyRevoked: [withDescendantsOfKey],
  UsageRecorded: [withAudio, withTenant, withTokenParts],
  UsageDayClosed: [withTokenParts],
};

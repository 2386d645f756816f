import assert from 'node:assert/strict';
import { eventCodecs } from '#domain/event-codecs.ts';
import { entityHistories, listedTypes, unlistedTypes } from '#domain/histories.ts';

/** The event types that no history, audit, feed or webhook lists. */
const unlisted = [
  'BatchLinesCompleted',
  'BatchTaken',
  'FileHeld',
  'FileReleased',
  'PhoneNumberAbandoned',
  'PhoneNumberClaimed',
  'RequestAnswered',
  'UsageDayClosed',
  'UsageRecorded',
];

describe('table of histories', () => {
  it('has every event type once', () => {
    const types = [...entityHistories.flatMap(({ events }) => Object.keys(events)), ...unlistedTypes];
    assert.deepEqual(types.toSorted(), Object.keys(eventCodecs).toSorted());
  });

  it('lists all types but the progress of batches, claims, remembered requests and metering', () => {
    const left = Object.keys(eventCodecs).filter((type) => !listedTypes.includes(type));
    assert.deepEqual(left.toSorted(), unlisted);
  });
});

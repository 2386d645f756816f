import assert from 'node:assert/strict';
import { storedFormat } from '#shared/stored-format.ts';
import { differences, readFrozenShapes } from '#test/support/stored-shapes/frozen-shapes.ts';
import { type StoredShapes, storedShapes } from '#test/support/stored-shapes/stored-shapes.ts';

describe('what this release stores', function () {
  this.timeout(60_000);
  let now: StoredShapes;
  before(() => {
    now = storedShapes();
  });

  it('is what it was when the format got its number', () => {
    const { format, shapes } = readFrozenShapes();
    const advice = `If a release with number ${storedFormat} is published, raise the number in src/shared/stored-format.ts and run npm run stored-shapes. Otherwise run npm run stored-shapes -- --unpublished.`;
    assert.deepEqual(differences(shapes, now), [], advice);
    assert.equal(format, storedFormat, 'run npm run stored-shapes');
  });

  it('includes events, streams, tables, columns, collections, indexes and records', () => {
    const names = Object.keys(now);
    for (const part of [
      'event FlowCreated 1',
      'stream kind flow',
      'table events',
      'table responses_by_time',
      'collection responses',
      'collection leases',
      'shape RecordKind',
      'shape StoredRecord',
      'shape ResponseDocument',
      'shape StoredSession',
      'shape RecordedCall',
    ])
      assert.ok(names.includes(part), part);
  });

  it('differs when a shape is new, gone or changed', () => {
    assert.deepEqual(differences({ kept: '1', changed: '2', gone: '3' }, { kept: '1', changed: '4', new: '5' }), [
      'changed',
      'gone',
      'new',
    ]);
  });
});

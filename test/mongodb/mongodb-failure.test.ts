import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { MongoBulkWriteError, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { areDuplicates, namedFailure } from '#mongodb/mongodb-failure.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

// The driver exports these classes as types only.
const { BulkWriteResult, WriteConcernError } = createRequire(import.meta.url)('mongodb/lib/bulk/common.js');

const duplicate = { code: 11000, errmsg: 'a duplicate key' };
const invalid = { ...duplicate, code: 2, errmsg: 'a bad value' };
/** A code that is not temporary elsewhere. */
const unknownWriteConcern = { code: 79, errmsg: 'no such write concern' };

type WriteError = typeof duplicate;

/** The error of a bulk write, as the driver makes it from the answers of the server. */
function bulkError(writeErrors: ReadonlyArray<WriteError>, ofConcern?: typeof unknownWriteConcern): Error {
  const writeConcernErrors = ofConcern === undefined ? [] : [new WriteConcernError(ofConcern)];
  const result = new BulkWriteResult({ ok: 1, writeErrors, writeConcernErrors, insertedIds: [], upserted: [] }, false);
  const [first] = writeErrors;
  const cause = first === undefined ? writeConcernErrors[0] : { message: first.errmsg, code: first.code, writeErrors };
  return new MongoBulkWriteError(cause, result);
}

describe('namedFailure', () => {
  const isTemporary = (error: Error) => namedFailure(error, 'its URL') instanceof UnavailableError;

  it('counts a cursor that the server no longer knows as temporary', () => {
    assert.ok(isTemporary(new MongoServerError({ code: 43, errmsg: 'cursor id 7 not found' })));
  });

  it('counts a write that is not confirmed as temporary, whatever its code and although the server says ok', () => {
    const answer = { ok: 1 as const, n: 1, writeConcernError: unknownWriteConcern };
    assert.ok(isTemporary(new MongoWriteConcernError(answer as never)));
  });

  it('counts a bulk write that is not confirmed as temporary, also beside writes that failed', () => {
    assert.ok(isTemporary(bulkError([], unknownWriteConcern)));
    assert.ok(isTemporary(bulkError([duplicate], unknownWriteConcern)));
    assert.ok(isTemporary(bulkError([invalid], unknownWriteConcern)));
  });

  it('returns other failures of a bulk write unchanged', () => {
    assert.ok(!isTemporary(bulkError([invalid])));
    assert.ok(!isTemporary(bulkError([duplicate, invalid])));
  });
});

describe('areDuplicates', () => {
  it('holds for a bulk write whose failed writes all met existing documents', () => {
    assert.ok(areDuplicates(bulkError([duplicate])));
    assert.ok(!areDuplicates(bulkError([duplicate, invalid])));
  });

  it('does not hold when the other writes are not confirmed', () => {
    assert.ok(!areDuplicates(bulkError([duplicate], unknownWriteConcern)));
  });
});

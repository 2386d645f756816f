import { renameSync, writeFileSync } from 'node:fs';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type CallKind, kindOfRead, noCalls } from '#test/support/eventstoredb/calls/call-kind.ts';

// Loaded into the service before anything else (`node --import`), in each of its threads: counts the gRPC calls where
// they leave it, whichever server answers them, and keeps the counts in a file for each thread.

const folder = process.env.BENCH_CALLS_FOLDER;
const savedAfterMs = 20;
/** Of a gRPC message: whether it is compressed, and its length. */
const headBytes = 5;

const calls = noCalls();
let isToBeSaved = false;

function count(kind: CallKind): void {
  calls[kind] += 1;
  if (isToBeSaved) return;
  isToBeSaved = true;
  setTimeout(() => {
    isToBeSaved = false;
    const file = join(folder ?? '', `${threadId}.json`);
    // Whoever reads it meanwhile must not find half of it.
    writeFileSync(`${file}.new`, JSON.stringify(calls));
    renameSync(`${file}.new`, file);
  }, savedAfterMs).unref();
}

function countOn(session: ClientHttp2Session): void {
  const request = session.request.bind(session);
  session.request = (headers, options) => {
    const stream = request(headers, options);
    const [service, method] = pathOf(headers).split('/').slice(-2);
    if (service?.endsWith('.Streams') !== true) count('other');
    else if (method === 'Read') countRead(stream);
    else count(method === 'Append' || method === 'BatchAppend' ? 'append' : 'other');
    return stream;
  };
}

function pathOf(headers: unknown): string {
  const path = typeof headers === 'object' && headers !== null && ':path' in headers ? headers[':path'] : '';
  return String(path);
}

/** A read's first message says what it reads. */
function countRead(stream: ClientHttp2Stream): void {
  const write = stream.write.bind(stream) as (...values: ReadonlyArray<unknown>) => boolean;
  let isFirst = true;
  stream.write = (...values: ReadonlyArray<unknown>) => {
    const [chunk] = values;
    if (isFirst && chunk instanceof Uint8Array) {
      isFirst = false;
      count(kindOfRead(streams.ReadReq.deserializeBinary(chunk.subarray(headBytes))));
    }
    return write(...values);
  };
}

if (folder !== undefined) {
  const connect = http2.connect as (...values: ReadonlyArray<unknown>) => ClientHttp2Session;
  Object.assign(http2, {
    connect: (...values: ReadonlyArray<unknown>) => {
      const session = connect(...values);
      countOn(session);
      return session;
    },
  });
}

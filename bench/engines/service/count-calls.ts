import { renameSync, writeFileSync } from 'node:fs';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type CallKind, kindOfRead, noCalls } from '#test/support/eventstoredb/calls/call-kind.ts';

// Loaded into each thread of the service before its own code (`node --import`). It counts the gRPC calls where
// they leave the service, with any server. The threads share the counts in memory. A signal writes them to
// a file, because a write to a file during the measurement would block the threads for as long as the disk takes.

const file = process.env.BENCH_CALLS_FILE;
const name = 'calls that the benchmark counts';
/** The bytes before a gRPC message: whether it is compressed, and its length. */
const headBytes = 5;

const kinds = Object.keys(noCalls()) as CallKind[];
const counts = isMainThread
  ? new Int32Array(new SharedArrayBuffer(kinds.length * Int32Array.BYTES_PER_ELEMENT))
  : (getEnvironmentData(name) as Int32Array);

function count(kind: CallKind): void {
  Atomics.add(counts, kinds.indexOf(kind), 1);
}

function write(to: string): void {
  const calls = Object.fromEntries(kinds.map((kind, index) => [kind, Atomics.load(counts, index)]));
  // A reader must never find half of the file.
  writeFileSync(`${to}.new`, JSON.stringify(calls));
  renameSync(`${to}.new`, to);
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

/** The first message of a read holds its request. */
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

if (file !== undefined) {
  if (isMainThread) {
    setEnvironmentData(name, counts);
    process.on('SIGUSR2', () => write(file));
  }
  const connect = http2.connect as (...values: ReadonlyArray<unknown>) => ClientHttp2Session;
  Object.assign(http2, {
    connect: (...values: ReadonlyArray<unknown>) => {
      const session = connect(...values);
      countOn(session);
      return session;
    },
  });
}

// Checks that a signed digest names the history of one resource: see docs/audit.md.
//   node check-proof.mjs PUBLIC.pem proof.json stream.ndjson
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [publicKey, proofFile, streamFile] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'));
const { digest, head, index, path } = JSON.parse(proofFile);
// Says in one sentence what does not match, and ends with 1.
const fail = (sentence) => {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
};
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

// Canonical JSON (RFC 8785): members in the order of their names, nothing between tokens.
function canonical(value) {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}

// 1. The given key has signed the digest.
const { signature, ...signed } = digest;
const isSigned = verify(
  null,
  Buffer.from(canonical(signed)),
  createPublicKey(publicKey),
  Buffer.from(signature, 'base64url'),
);
if (!isSigned) fail('The digest is not signed by this key: it was altered, or another key has signed it.');

// 2. The stream's last event is in the digest (RFC 9162, 2.1.3.2).
let [at, last, root] = [index, digest.streams - 1, sha256(Buffer.of(0), canonical(head))];
for (const sibling of path.map((hash) => Buffer.from(hash, 'hex'))) {
  root = at % 2 === 1 || at === last ? sha256(Buffer.of(1), sibling, root) : sha256(Buffer.of(1), root, sibling);
  if (at === last) while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];
  [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
}
if (last !== 0 || root.toString('hex') !== digest.root)
  fail(`The stream is not in the digest: the proof of ${head.stream} was altered, or it belongs to another digest.`);

// 3. Every event up to there is the sealed one, and follows the event before it.
let prevHash = null;
const events = streamFile
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
for (const [revision, event] of events.slice(0, head.revision + 1).entries()) {
  const { hash, ...metadata } = event.metadata;
  const named = `Revision ${revision} of ${head.stream} (${event.type}, ${metadata.time})`;
  if (event.stream !== head.stream) fail(`Line ${revision + 1} is of another stream: ${event.stream}.`);
  if (event.revision !== revision)
    fail(`Revision ${revision} of ${head.stream} is missing: line ${revision + 1} has revision ${event.revision}.`);
  if (hash !== sha256(canonical({ ...event, metadata })).toString('hex'))
    fail(`${named} was altered: its contents are not those that were stored.`);
  if (metadata.prevHash !== prevHash)
    fail(`${named} does not follow the event before it: one of the two was replaced.`);
  prevHash = hash;
}
if (events.length <= head.revision)
  fail(
    `The last events are missing: the digest names revision ${head.revision}, and the file ends with ${events.length - 1}.`,
  );
if (prevHash !== head.hash) fail('The events were replaced as a whole: they are not those that the digest names.');
process.stdout.write(`${head.stream}: revisions 0 to ${head.revision} are as they were on ${digest.time}.\n`);

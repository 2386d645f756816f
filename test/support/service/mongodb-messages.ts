import { BSON } from 'mongodb';

/** A command that a client sends. */
export interface MongoDbCommand {
  /** Its name: `find`, `update`, `hello`. */
  readonly command: string;
  /** Empty for a command on no collection. */
  readonly collection: string;
}

type Body = Readonly<Record<string, unknown>>;

/** The bytes of a message's head: its length, its id, the id that it answers, and its kind. */
const headBytes = 16;
/** The kind of message that holds a command or an answer; before it come its flags and a section's kind. */
const opMsg = 2013;
const opMsgBodyAt = headBytes + 4 + 1;
/** The kinds of the first greeting of a connection and of its answer. */
const opQuery = 2004;
const opReply = 1;
/** Before an answer of that kind come its flags, a cursor and two numbers. */
const opReplyBodyAt = headBytes + 4 + 8 + 4 + 4;

/** Returns a reader of a connection's bytes, in any parts, that passes on whole messages. */
export function messageReader(onMessage: (message: Buffer) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (let length = lengthOf(rest); length <= rest.length; length = lengthOf(rest)) {
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  };
}

/** Returns a reader of a connection's bytes, in any parts, that passes on each command. */
export function commandReader(onCommand: (sent: MongoDbCommand) => void): (data: Buffer) => void {
  return messageReader((message) => {
    const sent = commandOf(message);
    if (sent !== null) onCommand(sent);
  });
}

/** Returns the id by which an answer names the message. */
export function idOf(message: Buffer): number {
  return message.readInt32LE(4);
}

/** Returns the id of the message that this one answers. */
export function answeredId(message: Buffer): number {
  return message.readInt32LE(8);
}

/** Returns null for a message of another kind, like the first greeting of a connection. */
export function commandOf(message: Buffer): MongoDbCommand | null {
  if (kindOf(message) !== opMsg || message[opMsgBodyAt - 1] !== 0) return null;
  const body = bodyAt(message, opMsgBodyAt);
  const [command = '', named] = Object.entries(body)[0] ?? [];
  // `getMore` has the cursor's id first, and the collection in a member of its own.
  const collection: unknown = typeof named === 'string' ? named : body.collection;
  return { command, collection: typeof collection === 'string' ? collection : '' };
}

/** Returns whether the message asks what kind of server this is. */
export function isGreeting(message: Buffer): boolean {
  return kindOf(message) === opQuery || /^(hello|ismaster)$/i.test(commandOf(message)?.command ?? '');
}

/** Returns the answer to a message. @param body what the server says */
export function answerTo(message: Buffer, body: Body): Buffer {
  const before = Buffer.alloc(opMsgBodyAt);
  before.writeInt32LE(idOf(message), 8);
  before.writeInt32LE(opMsg, 12);
  return withLength(Buffer.concat([before, BSON.serialize(body)]));
}

/** Returns an answer of a server with members added or replaced. */
export function withMembers(answer: Buffer, members: Body): Buffer {
  const at = kindOf(answer) === opReply ? opReplyBodyAt : opMsgBodyAt;
  const body = BSON.serialize({ ...bodyAt(answer, at), ...members });
  return withLength(Buffer.concat([answer.subarray(0, at), body]));
}

function lengthOf(bytes: Buffer): number {
  return bytes.length < headBytes ? Number.POSITIVE_INFINITY : bytes.readInt32LE(0);
}

function withLength(message: Buffer): Buffer {
  message.writeInt32LE(message.length, 0);
  return message;
}

function kindOf(message: Buffer): number {
  return message.readInt32LE(12);
}

function bodyAt(message: Buffer, at: number): Body {
  return BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), { promoteValues: false });
}

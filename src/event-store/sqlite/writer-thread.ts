import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { ChangeNotifier } from '#event-store/change-notifications.ts';
import { openEventFile } from './event-file.ts';
import type { AppendMessage, FromWriter, RemoveMessage, ToWriter } from './messages.ts';
import { Writer } from './writer.ts';

export interface WriterThreadData {
  readonly file: string;
  readonly port: MessagePort;
}

/** Maximum number of appends in a commit. Later ones do not wait long. */
const maxAppendsInCommit = 2_000;

const { file, port } = workerData as WriterThreadData;
const writer = new Writer(openEventFile(file));
const notifiers = new Set<ChangeNotifier>();

/** The running removals, whose answers are still to be sent. */
let removals = Promise.resolve();

port.on('message', handle);
answer({ kind: 'ready', lastPosition: writer.lastPosition });

/** Handles a message. Appends are handled together with the waiting ones after them. */
function handle(message: ToWriter): void {
  if (message.kind === 'append') commit(message);
  else if (message.kind === 'remove') remove(message);
  else if (message.kind === 'wake') addNotifier(message.port);
  else close();
}

function commit(first: AppendMessage): void {
  const messages = [first];
  let appends = first.streams.length;
  let behind: ToWriter | undefined;
  while (appends < maxAppendsInCommit) {
    behind = nextMessage();
    if (behind?.kind !== 'append') break;
    messages.push(behind);
    appends += behind.streams.length;
  }
  const outcome = writer.commit(messages);
  answer(outcome);
  if (outcome.kind === 'committed') for (const sender of notifiers) sender.send(outcome.lastPosition);
  if (behind !== undefined && behind.kind !== 'append') handle(behind);
}

/** Removes events when the readers in other threads have dropped them, or hang; one removal after the other. */
function remove(message: RemoveMessage): void {
  const removal = writer.remove(message);
  const acknowledged =
    removal.outcome === 'removed' ? [...notifiers].map((one) => one.sendRemoval(message.stream)) : [];
  removals = removals.then(async () => {
    await Promise.all(acknowledged);
    answer(removal);
  });
}

function nextMessage(): ToWriter | undefined {
  return receiveMessageOnPort(port)?.message;
}

function answer(message: FromWriter): void {
  port.postMessage(message);
}

function addNotifier(changePort: MessagePort): void {
  const sender = new ChangeNotifier(changePort, () => notifiers.delete(sender));
  notifiers.add(sender);
  sender.send(writer.lastPosition);
}

/** Closes what is open. The thread then ends by itself. */
function close(): void {
  // A closed port acknowledges its removals.
  for (const sender of notifiers) sender.close();
  void removals.then(() => {
    writer.close();
    port.close();
  });
}

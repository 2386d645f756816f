import { readFileSync, writeFileSync } from 'node:fs';
import {
  type BatchRow,
  type BytesRow,
  type RequestsRow,
  type RoomRow,
  type SlotRow,
  slotTable,
} from '#exchange/slot-table.ts';

const page = new URL('operations.md', import.meta.url);
const place = /(<!-- limits -->\n)[\s\S]*?(<!-- \/limits -->)/;

const head = ['Name', 'Limits', 'In the node', 'Of a project', 'May wait', 'Waits', 'Refused'];

/** Returns the text of docs/operations.md with the table of limits as the code has it now. */
export function withLimits(text: string): string {
  const rows = [
    ...Object.entries<RequestsRow>(slotTable.requests).map(requestsCells),
    ...Object.entries<SlotRow>(slotTable.slots).map(slotCells),
    ...Object.entries<BatchRow>(slotTable.batches).map(batchCells),
    ...Object.entries<RoomRow>(slotTable.rooms).map(roomCells),
    ...Object.entries<BytesRow>(slotTable.bytes).map(bytesCells),
  ];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return text.replace(place, (_, begin: string, end: string) => `${begin}${lines.join('')}${end}`);
}

type Cells = ReadonlyArray<string>;

function requestsCells([name, { of, setBy, refused }]: [string, RequestsRow]): Cells {
  return [nameOf(name), of, none, setBy, none, none, codesOf(refused)];
}

function batchCells([name, { of, limits, variables, instead }]: [string, BatchRow]): Cells {
  const cells = withVariables([numberOf(limits.maxSlots)], variables);
  return [nameOf(name), of, ...cells, none, 'any', none, instead];
}

function slotCells([name, { of, limits, owner, isForEachPartner, within, refused, instead }]: [
  string,
  SlotRow,
]): Cells {
  const { maxSlots, maxSlotsOfOwner, maxWaiting, maxWaitingOfOwner, maxWaitMs } = limits;
  const ofNode = isForEachPartner === true ? `${numberOf(maxSlots)} for each partner` : numberOf(maxSlots);
  const ofOwner = owner === undefined ? numberOf(maxSlotsOfOwner) : `${numberOf(maxSlotsOfOwner)} for each ${owner}`;
  const waiting = [
    ...(maxWaiting === undefined ? [] : [numberOf(maxWaiting)]),
    ...(maxWaitingOfOwner === undefined ? [] : [`${numberOf(maxWaitingOfOwner)} of one ${owner ?? 'project'}`]),
  ];
  const waits = maxWaitMs === undefined ? none : `${numberOf(maxWaitMs / 1_000)} s`;
  const own = 'code' in refused ? [refused.code] : Object.values(refused).map(({ code }) => code);
  const codes = within === undefined ? own : [...own, ...slotTable.bytes[within].refused];
  return [nameOf(name), of, ofNode, ofOwner, waiting.join(', ') || none, waits, instead ?? codesOf(codes)];
}

function roomCells([name, { of, limits, variables, refused, instead }]: [string, RoomRow]): Cells {
  const { maxPlaces, maxPlacesOfOwner, maxBytes } = limits;
  const ofNode = [
    ...(maxPlaces === undefined ? [] : [numberOf(maxPlaces)]),
    ...(maxBytes === undefined ? [] : [bytesOf(maxBytes)]),
  ];
  const share = 'less than is free';
  const ofOwner = maxPlacesOfOwner === undefined ? share : `${numberOf(maxPlacesOfOwner)}, and ${share}`;
  const cells = withVariables([ofNode.join(', '), ofOwner], variables);
  return [nameOf(name), of, ...cells, none, none, instead ?? codesOf(refused)];
}

function bytesCells([name, { of, limits, variables, refused, instead }]: [string, BytesRow]): Cells {
  const cells = withVariables([bytesOf(limits.maxBytes), bytesOf(limits.maxBytesPerProject)], variables);
  return [nameOf(name), of, ...cells, none, none, instead ?? codesOf(refused)];
}

const none = '–';

/** Adds to each limit the variable that changes it; both lists have the same order. */
function withVariables(cells: Cells, variables: Cells = []): Cells {
  return cells.map((cell, index) => (variables[index] === undefined ? cell : `${cell} (\`${variables[index]}\`)`));
}

function nameOf(name: string): string {
  return `\`${name}\``;
}

function codesOf(codes: Cells): string {
  return [...new Set(codes)].map((code) => `\`${code}\``).join(', ') || none;
}

function numberOf(count: number | undefined): string {
  return count === undefined ? none : count.toLocaleString('en');
}

const mebibyte = 1024 * 1024;

function bytesOf(bytes: number): string {
  return bytes % (1024 * mebibyte) === 0 ? `${bytes / (1024 * mebibyte)} GiB` : `${bytes / mebibyte} MiB`;
}

// `npm run diagrams` runs this file.
if (import.meta.main) writeFileSync(page, withLimits(readFileSync(page, 'utf8')));

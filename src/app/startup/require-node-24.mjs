// Loaded before everything else, by whatever Node there is: it must be readable by old ones.
const oldest = 24;

if (Number(process.versions.node.split('.')[0]) < oldest) {
  process.stderr.write(
    `Switchyard needs Node ${oldest} or newer; ${process.execPath} is ${process.version}. ` +
      'Run npm ci without --omit=optional, which brings it on Linux and Windows, or install it from https://nodejs.org.\n',
  );
  process.exit(1);
}

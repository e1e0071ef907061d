// Loaded before a program: tells what keeps it alive whenever it gets SIGUSR2.
process.on('SIGUSR2', () => {
  process.stdout.write(`resources ${JSON.stringify(process.getActiveResourcesInfo())}\n`);
});

import { Load, type LoadOrder } from './load.js';

/** A load in a process of its own: told its order as the first message, it answers with the report. A load that fails ends the process. */
process.once('message', (order: LoadOrder) => {
  void new Load(order).run().then((report) => {
    process.send?.(report);
    process.disconnect();
  });
});

// Preloaded into a gateway by tests: its wall clock is off by SKEW_MS, as if the host's were.
const skewMs = Number(process.env.SKEW_MS ?? 0);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + skewMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + skewMs;
  }
};

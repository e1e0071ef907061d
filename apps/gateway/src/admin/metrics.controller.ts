import { Controller, Get, Header } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DecisionMetrics } from '../telemetry/decision-metrics.js';

@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: DecisionMetrics) {}

  @Get()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  @Header('Cache-Control', 'no-store')
  scrape(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}

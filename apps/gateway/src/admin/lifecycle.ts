/** Whether this process wants traffic: from the first listen until the stop begins. */
export class Lifecycle {
  stopping = false;
}

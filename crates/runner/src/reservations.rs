//! Reservations of calls on their way into the journal: proposers send them to
//! the dispatcher, which alone writes.

use autocomp_agents::{ReservationError, ReservationJournal};
use autocomp_core::Usage;
use tokio::sync::{mpsc, oneshot};

/// A call that waits until its reservation is written.
pub(crate) struct Waiting {
    pub(crate) model: String,
    pub(crate) label: String,
    pub(crate) most: Usage,
    /// Takes the number of the reservation.
    pub(crate) written: oneshot::Sender<u64>,
}

/// The proposers' end.
pub(crate) struct ReservationSender(mpsc::UnboundedSender<Waiting>);

/// Returns both ends. Calls that come when the receiver is gone are refused.
pub(crate) fn reservations() -> (ReservationSender, mpsc::UnboundedReceiver<Waiting>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (ReservationSender(sender), receiver)
}

#[async_trait::async_trait]
impl ReservationJournal for ReservationSender {
    async fn reserve(
        &self,
        model: &str,
        label: &str,
        most: &Usage,
    ) -> Result<u64, ReservationError> {
        let (written, number) = oneshot::channel();
        let waiting = Waiting {
            model: model.to_owned(),
            label: label.to_owned(),
            most: *most,
            written,
        };
        self.0.send(waiting).map_err(|_| ReservationError)?;
        number.await.map_err(|_| ReservationError)
    }
}

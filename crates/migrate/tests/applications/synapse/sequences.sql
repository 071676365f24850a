-- Sequences that belong to no column, after the last number of the tables that they number, as synapse_port_db sets them.
SELECT setval(s, n + 1, false) FROM (
  SELECT s, max((xpath('/row/n/text()', query_to_xml(format('SELECT coalesce(max(%I), 1) AS n FROM %I', c, t), true, true, '')))[1]::text::bigint) AS n
  FROM (VALUES
    ('state_group_id_seq', 'state_groups', 'id'), ('events_stream_seq', 'events', 'stream_ordering'), ('event_auth_chain_id', 'event_auth_chains', 'chain_id'),
    ('un_partial_stated_event_stream_sequence', 'un_partial_stated_event_stream', 'stream_id'), ('device_inbox_sequence', 'device_inbox', 'stream_id'),
    ('device_inbox_sequence', 'device_federation_outbox', 'stream_id'), ('account_data_sequence', 'room_account_data', 'stream_id'),
    ('account_data_sequence', 'room_tags_revisions', 'stream_id'), ('account_data_sequence', 'account_data', 'stream_id'),
    ('receipts_sequence', 'receipts_linearized', 'stream_id'), ('presence_stream_sequence', 'presence_stream', 'stream_id'),
    ('application_services_txn_id_seq', 'application_services_txns', 'txn_id'), ('device_lists_sequence', 'device_lists_stream', 'stream_id'),
    ('device_lists_sequence', 'user_signature_stream', 'stream_id'), ('device_lists_sequence', 'device_lists_outbound_pokes', 'stream_id'),
    ('device_lists_sequence', 'device_lists_changes_in_room', 'stream_id'), ('device_lists_sequence', 'device_lists_remote_pending', 'stream_id'),
    ('device_lists_sequence', 'device_lists_changes_converted_stream_position', 'stream_id'),
    ('e2e_cross_signing_keys_sequence', 'e2e_cross_signing_keys', 'stream_id'), ('push_rules_stream_sequence', 'push_rules_stream', 'stream_id'),
    ('pushers_sequence', 'pushers', 'id'), ('pushers_sequence', 'deleted_pushers', 'stream_id'),
    ('quarantined_media_id_seq', 'quarantined_media_changes', 'stream_id'), ('profile_updates_sequence', 'profile_updates', 'stream_id'),
    ('thread_subscriptions_sequence', 'thread_subscriptions', 'stream_id'), ('sticky_events_sequence', 'sticky_events', 'stream_id')) AS of (s, t, c)
  GROUP BY s) AS last;
